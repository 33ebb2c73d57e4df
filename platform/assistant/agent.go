package assistant

import (
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
)

// Agent is one of the assistant's voices. Agents are data: what they are for.
type Agent struct {
	Name    string
	Purpose string // for the status
	Topics  []understand.Topic
}

// The names of the agents.
const (
	SiteAsset   = "siteAssetAgent"
	EnergyAgent = "energyAgent"
	Comfort     = "comfortAgent"
	Maintenance = "maintenanceAgent"
	User        = "userAssistantAgent"
)

// Agents lists all of them; the first is the one that routes and answers what is nobody else's.
var Agents = []Agent{
	{User, "talks with the person: greetings, help, summaries of the building, orders to switch or move something, and whatever belongs to nobody else",
		[]understand.Topic{understand.Help, understand.Greeting, understand.Order, understand.Confirm, understand.Decline, understand.Report, understand.Sources, understand.Nothing}},
	{SiteAsset, "site assets: buildings, floors, zones, devices, controllers, and what is on or off now",
		[]understand.Topic{understand.Inventory, understand.Lights, understand.Controllers, understand.Automation}},
	{EnergyAgent, "energy and power: consumption by period, zone, floor or meter, comparisons, peaks, cost, proposals to save",
		[]understand.Topic{understand.Energy, understand.Power, understand.Cost, understand.Carbon, understand.Saving}},
	{Comfort, "comfort: temperature, air, light colour, shades, occupancy, and what of these is measured",
		[]understand.Topic{understand.Comfort, understand.Occupancy, understand.Shades, understand.Colour}},
	{Maintenance, "maintenance: faults, alerts, devices that are out of reach, availability",
		[]understand.Topic{understand.Faults, understand.Offline}},
}

// route chooses the agent of a topic.
func route(topic understand.Topic) Agent {
	for _, a := range Agents {
		for _, t := range a.Topics {
			if t == topic {
				return a
			}
		}
	}
	return Agents[0]
}

// narrow turns a question so that it is about the data that was asked for, if it is not yet.
func narrow(q understand.Frame, about platform.DataType) understand.Frame {
	keep := map[platform.DataType][]understand.Topic{
		platform.AboutEnergy:     {understand.Energy, understand.Power, understand.Cost, understand.Carbon, understand.Saving},
		platform.AboutOccupancy:  {understand.Occupancy},
		platform.AboutDevices:    {understand.Inventory, understand.Lights, understand.Shades, understand.Colour, understand.Controllers, understand.Offline, understand.Faults},
		platform.AboutAutomation: {understand.Automation},
		platform.AboutReports:    {understand.Report, understand.Energy, understand.Power, understand.Cost, understand.Carbon, understand.Faults, understand.Offline},
	}[about]
	if len(keep) == 0 {
		return q
	}
	for _, t := range keep {
		if q.Topic == t {
			return q
		}
	}
	if q.Unclear != nil && q.Unclear.Why != understand.Nowhere {
		return q
	}
	q.Topic, q.Op, q.Form, q.State, q.Conds, q.Kind, q.Having, q.By, q.Per, q.Unclear = keep[0], understand.Tell, understand.Plain, "", nil, "", nil, "", "", nil
	return q
}
