package dali

// ProfileInfo is what an installer wants to know of a profile.
type ProfileInfo struct{ Name, Title, Source string }

// Profiles lists what a gear's profile can be, by name.
func Profiles() []ProfileInfo {
	return []ProfileInfo{
		{"dali-dt6", "LED and all other dimmable gear", "IEC 62386-102, -207"},
		{"dali-dt8-rgbw", "gear of device type 8 with red, green, blue and white", "IEC 62386-209"},
		{"dali-dt8-tc", "gear of device type 8 with colour temperature", "IEC 62386-209"},
		{"dali-switch", "gear that only switches", "IEC 62386-102, -208"},
	}
}
