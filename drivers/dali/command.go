package dali

// Commands to addressed gear (IEC 62386-102, clause 11), with the data byte they
// carry. Ranges add a scene or a group.
const (
	OpOff               = 0x00
	OpUp                = 0x01
	OpDown              = 0x02
	OpStepUp            = 0x03
	OpStepDown          = 0x04
	OpRecallMax         = 0x05
	OpRecallMin         = 0x06
	OpStepDownAndOff    = 0x07
	OpOnAndStepUp       = 0x08
	OpEnableDAPC        = 0x09
	OpLastActiveLevel   = 0x0A // gear of the 2014 edition and later
	OpGoToScene         = 0x10 // + scene
	OpReset             = 0x20
	OpIdentify          = 0x25 // gear of the 2014 edition and later: shows itself for 10 s
	OpSetMax            = 0x2A // from DTR0, as the following
	OpSetMin            = 0x2B
	OpSetSystemFailure  = 0x2C
	OpSetPowerOn        = 0x2D
	OpSetFadeTime       = 0x2E
	OpSetFadeRate       = 0x2F
	OpSetScene          = 0x40 // + scene
	OpRemoveScene       = 0x50 // + scene
	OpAddGroup          = 0x60 // + group
	OpRemoveGroup       = 0x70 // + group
	OpSetShort          = 0x80 // from DTR0: address·2+1, or Mask to delete it
	OpQueryStatus       = 0x90
	OpQueryPresent      = 0x91
	OpQueryLampFailure  = 0x92
	OpQueryLampOn       = 0x93
	OpQueryDTR0         = 0x98
	OpQueryDeviceType   = 0x99
	OpQueryPhysicalMin  = 0x9A
	OpQueryDTR1         = 0x9C
	OpQueryDTR2         = 0x9D
	OpQueryActualLevel  = 0xA0
	OpQueryMax          = 0xA1
	OpQueryMin          = 0xA2
	OpQueryPowerOn      = 0xA3
	OpQueryFailureLevel = 0xA4
	OpQueryFade         = 0xA5
	OpQueryNextType     = 0xA7
	OpQueryScene        = 0xB0 // + scene
	OpQueryGroupsLow    = 0xC0 // bit n: group n
	OpQueryGroupsHigh   = 0xC1 // bit n: group n+8
	OpQueryRandomHigh   = 0xC2
	OpQueryRandomMid    = 0xC3
	OpQueryRandomLow    = 0xC4
)

// Commands of colour gear (device type 8, IEC 62386-209). Each must follow
// ENABLE DEVICE TYPE 8 immediately.
const (
	OpColourActivate   = 0xE2
	OpColourSetTc      = 0xE7 // DTR1:DTR0 = mirek
	OpColourCooler     = 0xE8
	OpColourWarmer     = 0xE9
	OpColourSetRGB     = 0xEB // DTR0, DTR1, DTR2
	OpColourSetWAF     = 0xEC // DTR0, DTR1, DTR2
	OpColourSetControl = 0xED
	OpColourFeatures   = 0xF7
	OpColourStatus     = 0xF8
	OpColourTypes      = 0xF9 // bit 0 xy, 1 Tc, 2–4 primaries, 5–7 number of RGBWAF channels
	OpColourValue      = 0xFA // selector in DTR0
)

// Special commands, by their address byte.
const (
	OpTerminate      = 0xA1
	OpDTR0           = 0xA3
	OpInitialise     = 0xA5 // 0 all, Mask those without short address, else address·2+1
	OpRandomise      = 0xA7
	OpCompare        = 0xA9
	OpWithdraw       = 0xAB
	OpSearchHigh     = 0xB1
	OpSearchMid      = 0xB3
	OpSearchLow      = 0xB5
	OpProgramShort   = 0xB7
	OpVerifyShort    = 0xB9
	OpQueryShort     = 0xBB
	OpEnableType     = 0xC1
	OpDTR1           = 0xC3
	OpDTR2           = 0xC5
	deviceTypeLED    = 6
	deviceTypeSwitch = 7
	deviceTypeColour = 8
)

// Bits of the answer to QUERY STATUS.
const (
	StatusGearFailure = 1 << iota
	StatusLampFailure
	StatusLampOn
	StatusLimitError
	StatusFading
	StatusReset
	StatusNoShort
	StatusPowerCycled
)

// command is what a decoder and a sender need to know of a command.
type command struct {
	name  string
	twice bool
	asks  bool
	span  int // of a range: how many data bytes it takes; the offset is the argument
	base  byte
}

// commands by data byte, ranges filled in.
var commands = fill(map[byte]command{
	OpOff: {name: "Off"}, OpUp: {name: "Up"}, OpDown: {name: "Down"}, OpStepUp: {name: "StepUp"},
	OpStepDown: {name: "StepDown"}, OpRecallMax: {name: "RecallMaxLevel"}, OpRecallMin: {name: "RecallMinLevel"},
	OpStepDownAndOff: {name: "StepDownAndOff"}, OpOnAndStepUp: {name: "OnAndStepUp"},
	OpEnableDAPC: {name: "EnableDAPCSequence"}, OpLastActiveLevel: {name: "GoToLastActiveLevel"},
	0x0B: {name: "ContinuousUp"}, 0x0C: {name: "ContinuousDown"},
	OpGoToScene: {name: "GoToScene", span: Scenes},
	OpReset:     {name: "Reset", twice: true}, 0x21: {name: "StoreActualLevelInDTR0", twice: true},
	0x22: {name: "SavePersistentVariables", twice: true}, 0x23: {name: "SetOperatingMode", twice: true},
	0x24: {name: "ResetMemoryBank", twice: true}, OpIdentify: {name: "IdentifyDevice", twice: true},
	OpSetMax: {name: "SetMaxLevel", twice: true}, OpSetMin: {name: "SetMinLevel", twice: true},
	OpSetSystemFailure: {name: "SetSystemFailureLevel", twice: true}, OpSetPowerOn: {name: "SetPowerOnLevel", twice: true},
	OpSetFadeTime: {name: "SetFadeTime", twice: true}, OpSetFadeRate: {name: "SetFadeRate", twice: true},
	0x30:       {name: "SetExtendedFadeTime", twice: true},
	OpSetScene: {name: "SetScene", twice: true, span: Scenes}, OpRemoveScene: {name: "RemoveFromScene", twice: true, span: Scenes},
	OpAddGroup: {name: "AddToGroup", twice: true, span: Groups}, OpRemoveGroup: {name: "RemoveFromGroup", twice: true, span: Groups},
	OpSetShort: {name: "SetShortAddress", twice: true}, 0x81: {name: "EnableWriteMemory", twice: true},
	OpQueryStatus: {name: "QueryStatus", asks: true}, OpQueryPresent: {name: "QueryControlGearPresent", asks: true},
	OpQueryLampFailure: {name: "QueryLampFailure", asks: true}, OpQueryLampOn: {name: "QueryLampPowerOn", asks: true},
	0x94: {name: "QueryLimitError", asks: true}, 0x95: {name: "QueryResetState", asks: true},
	0x96: {name: "QueryMissingShortAddress", asks: true}, 0x97: {name: "QueryVersionNumber", asks: true},
	OpQueryDTR0: {name: "QueryContentDTR0", asks: true}, OpQueryDeviceType: {name: "QueryDeviceType", asks: true},
	OpQueryPhysicalMin: {name: "QueryPhysicalMinimum", asks: true}, 0x9B: {name: "QueryPowerFailure", asks: true},
	OpQueryDTR1: {name: "QueryContentDTR1", asks: true}, OpQueryDTR2: {name: "QueryContentDTR2", asks: true},
	0x9E: {name: "QueryOperatingMode", asks: true}, 0x9F: {name: "QueryLightSourceType", asks: true},
	OpQueryActualLevel: {name: "QueryActualLevel", asks: true}, OpQueryMax: {name: "QueryMaxLevel", asks: true},
	OpQueryMin: {name: "QueryMinLevel", asks: true}, OpQueryPowerOn: {name: "QueryPowerOnLevel", asks: true},
	OpQueryFailureLevel: {name: "QuerySystemFailureLevel", asks: true}, OpQueryFade: {name: "QueryFadeTimeFadeRate", asks: true},
	0xA6: {name: "QueryManufacturerSpecificMode", asks: true}, OpQueryNextType: {name: "QueryNextDeviceType", asks: true},
	0xA8: {name: "QueryExtendedFadeTime", asks: true}, 0xAA: {name: "QueryControlGearFailure", asks: true},
	OpQueryScene: {name: "QuerySceneLevel", asks: true, span: Scenes}, OpQueryGroupsLow: {name: "QueryGroupsZeroToSeven", asks: true},
	OpQueryGroupsHigh: {name: "QueryGroupsEightToFifteen", asks: true}, OpQueryRandomHigh: {name: "QueryRandomAddressH", asks: true},
	OpQueryRandomMid: {name: "QueryRandomAddressM", asks: true}, OpQueryRandomLow: {name: "QueryRandomAddressL", asks: true},
	0xC5: {name: "ReadMemoryLocation", asks: true},
	// Device type 8; without it these mean something else or nothing.
	0xE0: {name: "SetTemporaryXCoordinate"}, 0xE1: {name: "SetTemporaryYCoordinate"}, OpColourActivate: {name: "Activate"},
	0xE3: {name: "XCoordinateStepUp"}, 0xE4: {name: "XCoordinateStepDown"}, 0xE5: {name: "YCoordinateStepUp"},
	0xE6: {name: "YCoordinateStepDown"}, OpColourSetTc: {name: "SetTemporaryColourTemperature"},
	OpColourCooler: {name: "ColourTemperatureTcStepCooler"}, OpColourWarmer: {name: "ColourTemperatureTcStepWarmer"},
	0xEA: {name: "SetTemporaryPrimaryNDimLevel"}, OpColourSetRGB: {name: "SetTemporaryRGBDimLevel"},
	OpColourSetWAF: {name: "SetTemporaryWAFDimLevel"}, OpColourSetControl: {name: "SetTemporaryRGBWAFControl"},
	0xEE: {name: "CopyReportToTemporary"}, 0xF0: {name: "StoreTYPrimaryN", twice: true},
	0xF1: {name: "StoreXYCoordinatePrimaryN", twice: true}, 0xF2: {name: "StoreColourTemperatureTcLimit", twice: true},
	0xF3: {name: "StoreGearFeaturesStatus", twice: true}, OpColourFeatures: {name: "QueryGearFeaturesStatus", asks: true},
	OpColourStatus: {name: "QueryColourStatus", asks: true}, OpColourTypes: {name: "QueryColourTypeFeatures", asks: true},
	OpColourValue: {name: "QueryColourValue", asks: true},
})

// extended is the first command whose meaning depends on the device type that was
// enabled by the frame before.
const extended = 0xE0

func fill(table map[byte]command) map[byte]command {
	out := make(map[byte]command, 256)
	for op, c := range table {
		c.base = op
		out[op] = c
		for i := 1; i < c.span; i++ {
			out[op+byte(i)] = c
		}
	}
	return out
}

// specials by address byte.
var specials = map[byte]command{
	OpTerminate: {name: "Terminate"}, OpDTR0: {name: "DTR0"}, OpInitialise: {name: "Initialise", twice: true},
	OpRandomise: {name: "Randomise", twice: true}, OpCompare: {name: "Compare", asks: true}, OpWithdraw: {name: "Withdraw"},
	0xAD: {name: "Ping"}, OpSearchHigh: {name: "SearchaddrH"}, OpSearchMid: {name: "SearchaddrM"}, OpSearchLow: {name: "SearchaddrL"},
	OpProgramShort: {name: "ProgramShortAddress"}, OpVerifyShort: {name: "VerifyShortAddress", asks: true},
	OpQueryShort: {name: "QueryShortAddress", asks: true}, OpEnableType: {name: "EnableDeviceType"},
	OpDTR1: {name: "DTR1"}, OpDTR2: {name: "DTR2"}, 0xC7: {name: "WriteMemoryLocation", asks: true},
	0xC9: {name: "WriteMemoryLocationNoReply"},
}
