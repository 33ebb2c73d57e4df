// Package sim plays a building at wire level.
//
// It takes the same [appliance.Site] as the controller and puts a believable
// device behind every node of it: Modbus TCP gateways and RTU-over-TCP serial
// servers on loopback ports, RTU lines on pseudo-terminals whose bytes take as
// long as the line speed says; and, by way of the simulators below this folder,
// buses of SDN motors, DALI lines behind their gateways and DMX universes. Lamps fade, shades take their time to travel,
// meters add up what the lamps of their bus draw, and faults happen on demand.
//
// # One exchange on a paced line
//
//	 request read │ n characters │ t3.5 │ latency │ answer, m characters │
//	──────────────┴──────────────┴──────┴─────────┴──────────────────────┴─▶ t
//	              ▲                     ▲                                ▲
//	              first bit on the wire executed                last byte delivered
//
// The schedule is absolute: a byte delivered late does not delay the next one.
//
// # Independence
//
// Framing, checksums and register maps are written from the makers' documents,
// one file per device family, and share nothing with the Modbus driver, so that
// a wrong profile and a wrong model cannot agree by construction. What the
// documents leave open is marked as this model's choice where it is made.
package sim
