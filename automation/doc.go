// Package automation turns what happens in a building into commands: widget events of panels and voices, and the rules of
// the site.
//
// An event passes three pure steps, which see no clock but the times that it carries: the gate (is it new, in time, in
// order?), the gesture (what does it ask for?) and the lane (what of all that a room asks for is done next?). Only then
// does [Automation] call the core. Every event gets one answer, which tells what the ledger knows.
//
// Rules are decided by the engine in the same way: it is told the time and what is known of the building, and gives back
// what is to be done; [Rules] does it, and leaves alone what somebody set by hand a short while ago.
package automation
