// Package automation turns what happens in a room into commands: today the widget events of panels and voices.
//
// An event passes three pure steps, which see no clock but the times that it carries: the gate (is it new, in time, in
// order?), the gesture (what does it ask for?) and the lane (what of all that a room asks for is done next?). Only then
// does [Automation] call the core. Every event gets one answer, which tells what the ledger knows.
package automation
