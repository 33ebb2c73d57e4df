// Package past keeps what level, power, position and reachability of every thing were, for 30 days, in one file
// of a fixed size.
//
// Flash wears by being written, so that little is: changes only, packed into blocks, each of which is written once
// when it is full. What the present block holds is written every few minutes, so a power cut loses no more than that.
// Nothing here is on the way of a command: the [Recorder] looks at snapshots once a second.
//
// # The file
//
// It consists of slots of 8 KiB, each with one block or nothing:
//
//	0, 1   the present block, as far as it is, in turns: the one that is being written is never the newest
//	2 …    a ring of full blocks; the newest takes the place of the oldest
//
// It grows by half a mebibyte of zeros when that is needed, until it has its size, and not into the last room of a disk:
// then the ring is a smaller one. Blocks are written over zeros or older blocks, so that the file system has nothing
// to note of its own, and fdatasync costs the block's pages only.
//
// # A block
//
//	 0  4  magic "PAST"
//	 4  4  CRC-32C of bytes 8 to 64
//	 8  8  number, ascending over the life of the file
//	16  8  number of the first block of its run
//	24  8  begin, by the wall clock, in milliseconds since 1970
//	32  8  how far the clock had just been set when the run began, in ms; 0 but in the first block of a run
//	40  4  for so many seconds it tells everything
//	44  4  how often it was written; of two forms of a block the one that was written more often counts
//	48  2  length of the payload
//	50  1  1: full, it begins with all that is known; tracks that it does not mention were not known
//	52  8  number of the run that was going on when the clock was set; 0: none
//	60  4  CRC-32C of the payload
//	64     payload
//
// The payload is a sequence of moments, each with its changes. All numbers are unsigned varints, but for the byte of a
// level, position or reachability:
//
//	seconds since the moment before (since the begin), number of changes, changes
//	change: (zigzag of its ID less that of the change before in its moment) * 8 + kind, [channel less 1], value
//
// A value is one more than the percent, than 0 or 1 for reachability, or than the zigzag of tenths of a watt;
// 0 is "not known".
//
// # Time
//
// A run is a time in which the program ran and its clock was not set. Within it, seconds are counted by the monotonic
// clock, so that they only ascend. When the wall clock jumps, the next run begins. A board without a battery begins at
// a wrong time and hears the right one later: if the clock was not known to be right before it was set, the runs of
// this process so far are moved with it. Where the times of two runs overlap all the same, the later one counts.
// Between two runs nothing is known.
package past
