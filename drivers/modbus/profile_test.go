package modbus

import "testing"

func TestBuiltinProfilesCanBeUsed(t *testing.T) {
	names := []string{
		"arlight-dali-logic-lite", "dalion", "eastron-sdm120", "eastron-sdm220", "eastron-sdm230", "eastron-sdm630",
		"eastron-sdm72", "ecodim-dali-gw2", "intesis-ibmbsdal", "waveshare-relay-8ch", "wirenboard-wb-led-cct",
		"wirenboard-wb-led-rgbw", "wirenboard-wb-led-white", "wirenboard-wb-mao4", "wirenboard-wb-mdm3",
		"wirenboard-wb-mr6c", "wirenboard-wb-mrgbw-d-legacy",
	}
	got := Profiles()
	if len(got) != len(names) {
		t.Errorf("got %d profiles, want %d", len(got), len(names))
	}
	for i, p := range got {
		if i < len(names) && p.Name != names[i] {
			t.Errorf("profile %d is %s, want %s", i, p.Name, names[i])
		}
		if p.Source == "" || p.Title == "" {
			t.Errorf("%s names no source or title", p.Name)
		}
	}
}
