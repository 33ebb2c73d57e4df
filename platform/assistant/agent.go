package assistant

import (
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/question"
)

// Agent is one of the assistant's voices. Agents are data: what they are for, what they may read, and how a model that
// words for them is told to.
type Agent struct {
	Name    string
	Purpose string // for the model that routes, and for the status
	Topics  []question.Topic
	Tools   []string // names of read tools
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
		[]question.Topic{question.Help, question.Greeting, question.Order, question.Confirm, question.Decline, question.Report, question.Sources, question.Outside, question.Nothing},
		[]string{"building", "lights", "shades", "energy", "power", "faults", "reach", "controllers", "preview_order"}},
	{SiteAsset, "site assets: buildings, floors, zones, devices, controllers, and what is on or off now",
		[]question.Topic{question.Inventory, question.Lights, question.Controllers, question.Automation},
		[]string{"building", "lights", "shades", "controllers", "reach"}},
	{EnergyAgent, "energy and power: consumption by period, zone, floor or meter, comparisons, peaks, cost, proposals to save",
		[]question.Topic{question.Energy, question.Power, question.Cost, question.Carbon, question.Saving},
		[]string{"building", "energy", "power", "lights"}},
	{Comfort, "comfort: temperature, air, light colour, shades, occupancy, and what of these is measured",
		[]question.Topic{question.Comfort, question.Occupancy, question.Shades, question.Colour},
		[]string{"building", "lights", "shades"}},
	{Maintenance, "maintenance: faults, alerts, devices that are out of reach, availability",
		[]question.Topic{question.Faults, question.Offline},
		[]string{"building", "faults", "reach", "controllers"}},
}

// route chooses the agent of a topic.
func route(topic question.Topic) Agent {
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
func narrow(q question.Question, about platform.DataType) question.Question {
	keep := map[platform.DataType][]question.Topic{
		platform.AboutEnergy:     {question.Energy, question.Power, question.Cost, question.Carbon, question.Saving},
		platform.AboutOccupancy:  {question.Occupancy},
		platform.AboutDevices:    {question.Inventory, question.Lights, question.Shades, question.Colour, question.Controllers, question.Offline, question.Faults},
		platform.AboutAutomation: {question.Automation},
		platform.AboutReports:    {question.Report, question.Energy, question.Power, question.Cost, question.Carbon, question.Faults, question.Offline},
	}[about]
	if len(keep) == 0 {
		return q
	}
	for _, t := range keep {
		if q.Topic == t {
			return q
		}
	}
	q.Topic, q.State, q.Bound = keep[0], "", nil
	if q.Op == question.Check {
		q.Op = question.Tell
	}
	return q
}
