package appliance

import "testing"

// Who has an address is one row, whatever a scan comes to think of it; what is true beside
// that has its own.
func TestFindingsKeepOneRowForWhoHasAnAddress(t *testing.T) {
	var all Findings
	line := LineSettings{BaudRate: 19200}
	for _, f := range []Found{
		{Address: "2", Finding: FoundDevice, Kind: "dimmer"},
		{Address: "2", Finding: FoundCollision}, // the kind is known from before
		{Address: "2", Finding: FoundDamaged, Detail: "at last"},
		{Address: "2", Finding: FoundSettings, Line: line},
		{Address: "2", Finding: FoundSettings, Line: LineSettings{BaudRate: 9600}},
		{Address: "2", Finding: FoundSettings, Line: line, Detail: "again"},
		{Address: "3", Finding: FoundDevice, Serial: "A"},
		{Address: "3", Finding: FoundDevice, Serial: "B"},
	} {
		all, _ = all.With(f)
	}
	if len(all) != 5 || all[0].Finding != FoundDamaged || all[0].Kind != "dimmer" || all[0].Detail != "at last" || all[1].Detail != "again" || all[4].Serial != "B" {
		t.Errorf("%d rows: %+v", len(all), all)
	}
}

// Who was silent and then answers at other settings is told of once.
func TestFindingsTakeTheSilentForWhoAnswersAtOtherSettings(t *testing.T) {
	var all Findings
	for _, f := range []Found{
		{Address: "5", Finding: FoundSilent}, {Address: "6", Finding: FoundSilent}, {Address: "7"},
		{Address: "6", Finding: FoundSettings, Line: LineSettings{BaudRate: 9600}}, {Address: "7", Finding: FoundSettings, Line: LineSettings{BaudRate: 9600}},
	} {
		all, _ = all.With(f)
	}
	if len(all) != 4 || all[0].Finding != FoundSilent || all[1].Finding != FoundSettings || all[2].Finding != "" || all[3].Address != "7" {
		t.Errorf("findings %+v", all)
	}
}

// What the site had nothing of when it was first told is new, and stays so when it is named; one who told no serial number at
// first is the one who does.
func TestFindingsAreNewWhereTheSiteHadNothing(t *testing.T) {
	var all Findings
	for _, f := range []Found{{Address: "1"}, {Address: "2", Nodes: []ID{7}}, {Address: "1", Nodes: []ID{8}, Serial: "A"}, {Address: "1"}, {Address: "1", Serial: "B"}} {
		all, _ = all.With(f)
	}
	if len(all) != 2 || !all[0].New || all[1].New || all[0].Serial != "B" {
		t.Errorf("%+v", all)
	}
	if (Found{Address: "1", Serial: "A"}).Same(Found{Address: "1", Serial: "B"}) || !(Found{Address: "1", Serial: "A"}).Same(Found{Address: "1", Serial: "A"}) ||
		(Found{Address: "1"}).Same(Found{Address: "2"}) || (Found{Address: "1", Finding: FoundNote}).Same(Found{Address: "1"}) {
		t.Error("who has another serial number, another address or is told beside it is the same")
	}
}
