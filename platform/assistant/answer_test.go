package assistant

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/sitetest"
)

// on is an assistant over the test building, at the building's present.
func on(b *sitetest.Building) *Assistant {
	return New(Config{Sites: b, Act: b, History: sitetest.NewHistory(), Now: func() time.Time { return sitetest.Now }, Log: slog.New(slog.DiscardHandler)})
}

// unchanged is a building that reports nothing new while it is asked about, so that it is read once for all questions, as of every
// controller that counts its reports.
func unchanged() *sitetest.Building {
	b := sitetest.New()
	b.Controller.Revision = 1
	return b
}

func ask(t *testing.T, e *Assistant, in platform.Inquiry) platform.Reply {
	t.Helper()
	if in.Owner == "" {
		in.Owner = "somebody"
	}
	r, err := e.Ask(context.Background(), in, nil)
	if err != nil {
		t.Fatalf("%q: %v", in.Message, err)
	}
	return r
}

// at is a time of November 2026 in the building.
func at(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, sitetest.Location) }

// kwh adds the true power up, minute by minute and apart from the code under test, and words it.
func kwh(from, to time.Time, meters ...int64) string {
	sum := 0.0
	for m := from; m.Before(to) && m.Before(sitetest.Now); m = m.Add(time.Minute) {
		for _, node := range meters {
			if sitetest.Measured(node, m) {
				sum += sitetest.Watts(node, m) / 60000
			}
		}
	}
	if sum >= 100 {
		return fmt.Sprintf("%.1f kWh", sum)
	}
	return fmt.Sprintf("%.2f kWh", sum)
}

// kw words the true power of now.
func kw(meters ...int64) string {
	sum := 0.0
	for _, node := range meters {
		sum += sitetest.Watts(node, sitetest.Now)
	}
	if sum >= 1000 {
		return fmt.Sprintf("%.2f kW", sum/1000)
	}
	return fmt.Sprintf("%.0f W", sum)
}

// usualKWh words the mean of today's hours up to half past two on the four Wednesdays before.
func usualKWh(meter int64) string {
	sum := 0.0
	for w := 1; w <= 4; w++ {
		from := at(18, 0).AddDate(0, 0, -7*w)
		for m := from; m.Before(from.Add(14*time.Hour + 30*time.Minute)); m = m.Add(time.Minute) {
			if sitetest.Measured(meter, m) {
				sum += sitetest.Watts(meter, m) / 60000 / 4
			}
		}
	}
	return fmt.Sprintf("%.2f kWh", sum)
}

const (
	ground   = sitetest.GroundMeter
	offices  = sitetest.OfficeMeter
	workshop = sitetest.WorkshopMeter
	alps     = sitetest.AlpsMeter
	lobby    = sitetest.LobbyMeter
)

// A line of the table: wordings of one question, the agent, what the answer must and must not say.
type line struct {
	asked []string
	agent string
	want  []string
	never []string
}

func TestQuestionsAreAnsweredInManyWordings(t *testing.T) {
	all := []int64{ground, offices, workshop, alps}
	lines := []line{
		// energy by period
		{[]string{"How much energy did the building use yesterday?", "what was yesterday's consumption", "kWh yesterday?", "total electricity used yesterday", "how much did we consume yesterday"},
			EnergyAgent, []string{kwh(at(17, 0), at(18, 0), all...), "21 h of 24 h", "Annex gallery"}, nil},
		{[]string{"energy today", "how much power have we used today", "today's energy consumption so far", "What did the whole building consume today?"}, EnergyAgent, []string{kwh(at(18, 0), sitetest.Now, all...), "so far"}, nil},
		{[]string{"How much energy did the ground floor use yesterday?", "ground floor consumption yesterday", "yesterday, what was the energy use on the ground floor", "electricity for the ground floor for yesterday please"},
			EnergyAgent, []string{kwh(at(17, 0), at(18, 0), ground)}, []string{"not measured"}},
		{[]string{"energy of the ground floor last week", "how much electricity did the ground floor need last week?", "last week's kWh on the ground floor"}, EnergyAgent, []string{kwh(at(9, 0), at(16, 0), ground), "Mon 9 Nov"}, nil},
		{[]string{"open office consumption this week", "what have the open offices used this week", "energy in the open office so far this week"}, EnergyAgent, []string{kwh(at(16, 0), sitetest.Now, offices)}, nil},
		{[]string{"energy between 8 and 12 yesterday on the ground floor", "yesterday from 8:00 to 12:00 how much did the ground floor use", "ground floor energy yesterday between 8am and noon", "how many kWh did the ground floor use between 08:00 and 12:00 yesterday"},
			EnergyAgent, []string{kwh(at(17, 8), at(17, 12), ground)}, nil},
		{[]string{"ground floor energy since Monday", "since monday, what did the ground floor consume"}, EnergyAgent, []string{kwh(at(16, 0), sitetest.Now, ground)}, nil},
		{[]string{"energy of the open offices in the last 24 hours", "open offices: kWh over the past 24 h"}, EnergyAgent, []string{kwh(sitetest.Now.Add(-24*time.Hour).Add(40*time.Second), sitetest.Now, offices)}, nil},
		{[]string{"energy of the ground floor this month", "how much has the ground floor used this month", "november consumption of the ground floor"}, EnergyAgent, []string{kwh(at(1, 0), sitetest.Now, ground)}, nil},
		{[]string{"ground floor consumption in October", "what did the ground floor use last month"}, EnergyAgent, []string{kwh(time.Date(2026, 10, 1, 0, 0, 0, 0, sitetest.Location), at(1, 0), ground), "first sample"}, nil},
		{[]string{"energy of the workshop on Tuesday", "how much did the workshop use on tuesday", "workshop consumption last tuesday"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), workshop), "21 h of 24 h"}, nil},
		{[]string{"ground floor energy on 12 November", "what did the ground floor use on November 12th", "consumption of the ground floor on 2026-11-12", "ground floor, 12.11.2026, kWh"}, EnergyAgent, []string{kwh(at(12, 0), at(13, 0), ground)}, nil},
		{[]string{"ground floor consumption last weekend", "energy used by the ground floor over the last weekend"}, EnergyAgent, []string{kwh(at(14, 0), at(16, 0), ground)}, nil},
		{[]string{"how much did the ground floor use last night", "last night's consumption on the ground floor"}, EnergyAgent, []string{kwh(at(17, 22), at(18, 6), ground)}, nil},
		{[]string{"ground floor energy yesterday morning", "yesterday morning, what did the ground floor consume"}, EnergyAgent, []string{kwh(at(17, 6), at(17, 12), ground)}, nil},
		{[]string{"ground floor energy from monday to tuesday", "between monday and tuesday how much did the ground floor use"}, EnergyAgent, []string{kwh(at(16, 0), at(18, 0), ground)}, nil},
		{[]string{"ground floor energy 3 days ago", "what did the ground floor consume three days ago"}, EnergyAgent, []string{kwh(at(15, 0), at(16, 0), ground)}, nil},
		{[]string{"energy use of the ground floor the day before yesterday", "consumption on the ground floor day before yesterday"}, EnergyAgent, []string{kwh(at(16, 0), at(17, 0), ground)}, nil},
		// by zone and meter, and what is not measured
		{[]string{"How much energy did meeting room Alps use yesterday?", "Alps consumption yesterday", "kWh of the alps meeting room yesterday"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), alps)}, nil},
		{[]string{"How much energy did the lobby use yesterday?", "lobby energy yesterday", "what did the loby consume yesterday"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), lobby), "14 h of 24 h", "first sample"}, nil},
		{[]string{"what did the ground floor meter measure yesterday", "ground floor meter reading yesterday kWh"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), ground)}, nil},
		{[]string{"How much energy did the canteen use yesterday?", "canteen kWh yesterday", "yesterday's electricity consumption in the canteen"}, EnergyAgent, []string{"not measured", "Meter ground floor"}, []string{"kWh"}},
		{[]string{"energy of meeting room lakes last week", "how much did Lakes use last week"}, EnergyAgent, []string{"not measured"}, []string{"kWh"}},
		{[]string{"consumption of the ground floor in September", "energy on the ground floor in september 2026"}, EnergyAgent, []string{"I do not know", "first sample"}, []string{"kWh"}},
		{[]string{"how much energy will we use tomorrow", "forecast consumption for next week", "predict tomorrow's energy"}, EnergyAgent, []string{"I do not know", "no forecasts"}, []string{"kWh"}},
		{[]string{"how much energy did the sauna use yesterday", "sauna consumption yesterday?", "what did the sauna consume"}, EnergyAgent, []string{"nothing called", "sauna"}, []string{"kWh"}},
		// comparisons, rankings, slots
		{[]string{"compare ground floor energy this week with last week", "did the ground floor use more this week than last week?", "ground floor: this week vs last week consumption"},
			EnergyAgent, []string{kwh(at(16, 0), sitetest.Now, ground), kwh(at(9, 0), at(16, 0), ground), kwh(at(9, 0), at(11, 14).Add(30*time.Minute), ground)}, nil},
		{[]string{"compare the ground floor yesterday with the day before yesterday", "ground floor energy yesterday versus the day before"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), ground), kwh(at(16, 0), at(17, 0), ground)}, nil},
		{[]string{"compare the open offices and the ground floor yesterday in kWh", "which used more yesterday, the open offices or the ground floor?"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), ground), kwh(at(17, 0), at(18, 0), offices)}, nil},
		{[]string{"which zone used the most energy yesterday", "top 3 zones by consumption yesterday", "what room was the biggest consumer yesterday"}, EnergyAgent, []string{"Annex workshop " + kwh(at(17, 0), at(18, 0), workshop), "Meter open offices " + kwh(at(17, 0), at(18, 0), offices), "Not measured on their own"}, nil},
		{[]string{"energy by floor yesterday", "rank the floors by energy yesterday", "break yesterday's consumption down by floor"}, EnergyAgent, []string{"Ground floor " + kwh(at(17, 0), at(18, 0), ground), "Upper floor " + kwh(at(17, 0), at(18, 0), offices, alps)}, nil},
		{[]string{"energy per meter yesterday", "consumption of each meter yesterday"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), ground), kwh(at(17, 0), at(18, 0), offices), kwh(at(17, 0), at(18, 0), alps)}, nil},
		{[]string{"hourly consumption of the ground floor yesterday between 8 and 12", "ground floor kWh per hour yesterday from 8 to 12"}, EnergyAgent, []string{"09:00 " + kwh(at(17, 9), at(17, 10), ground), "11:00 " + kwh(at(17, 11), at(17, 12), ground)}, nil},
		{[]string{"ground floor energy per day last week", "daily consumption of the ground floor last week"}, EnergyAgent, []string{"Tue 10 Nov " + kwh(at(10, 0), at(11, 0), ground), "Sun 15 Nov " + kwh(at(15, 0), at(16, 0), ground)}, nil},
		// power
		{[]string{"What is the ground floor drawing right now?", "current power of the ground floor", "ground floor power now", "how many watts does the ground floor draw at the moment", "what's the consumption on the ground floor right now"}, EnergyAgent, []string{kw(ground), "8 s old"}, nil},
		{[]string{"how much power is the building using now", "total power draw at the moment", "what is the current load of the building"}, EnergyAgent, []string{kw(all...), "Annex gallery"}, nil},
		{[]string{"power of meeting room lakes now", "how many watts is Lakes drawing"}, EnergyAgent, []string{"not measured"}, []string{" W now", "kW"}},
		{[]string{"estimate the power of the gallery assuming 30 W per light", "gallery power now, assume 30 watts per lamp"}, EnergyAgent, []string{"An estimate, not a measurement", "3.0 W", "left out"}, nil},
		// lights
		{[]string{"Which lights are on?", "what lights are on right now", "list the lights that are switched on", "show me all lights that are burning", "how many lights are on"}, SiteAsset, []string{"27 of 39 lights are on", "Open office north 8", "Workshop 4", "Gallery 2"}, nil},
		{[]string{"which lights are on in the lobby", "lights on in the lobby?", "are any lights on in the lobby", "is there a lamp on in the lobby"}, SiteAsset, []string{"ll 4 lights in Lobby are on", "4 s"}, nil},
		{[]string{"are the lights on in the canteen", "is any light burning in the canteen", "did somebody leave a light on in the canteen?"}, SiteAsset, []string{"No", "none of the 5 lights"}, nil},
		{[]string{"are all lights off on the ground floor", "is everything switched off on the ground floor?"}, SiteAsset, []string{"No", "5 of 12 lights"}, nil},
		{[]string{"how many lights are off in open office north", "count the lights that are not on in open office north"}, SiteAsset, []string{"1 of 8 lights", "Open office north 8"}, nil},
		{[]string{"which lights are above 80 percent", "lights brighter than 80 %"}, SiteAsset, []string{"9 of 39"}, nil},
		{[]string{"how bright is it in the lobby", "what is the light level in the lobby", "lobby brightness", "average light level of the lobby"}, SiteAsset, []string{"40 %"}, nil},
		{[]string{"is Workshop 4 on", "what is the level of workshop 4"}, SiteAsset, []string{"I do not know", "restart"}, []string{"100"}},
		{[]string{"how bright is open office north 8", "is open office north 8 on?"}, SiteAsset, []string{"I do not know", "offline", "5 h 27 min"}, []string{"80 %"}},
		{[]string{"level of Gallery 2", "is Gallery 2 switched on?"}, SiteAsset, []string{"I do not know", "never read"}, nil},
		{[]string{"which lights were on yesterday evening", "were the lobby lights on last night?"}, SiteAsset, []string{"I do not know", "history is not kept"}, nil},
		{[]string{"which rooms have lights on?", "how many zones have lights on"}, SiteAsset, []string{"8 of 10 zones"}, []string{"Canteen"}},
		{[]string{"how many lights are on per floor", "lights on by floor"}, SiteAsset, []string{"Ground floor 7 of 12", "Upper floor 15 of 20 on (1 unknown)"}, nil},
		// shades and comfort
		{[]string{"which shades are open", "what blinds are up?", "list open shades"}, Comfort, []string{"2 of 5 shades are open", "Lounge shade"}, nil},
		{[]string{"are all shades closed in the canteen", "are the canteen blinds down?"}, Comfort, []string{"Yes", "2 shades in Canteen are closed"}, nil},
		{[]string{"how far is Lobby shade 2 open", "position of lobby shade 2", "is lobby shade 2 open?", "is shade 5002 open"}, Comfort, []string{"60 % open"}, nil},
		{[]string{"is any shade moving", "which blinds are moving right now?"}, Comfort, []string{"Lobby shade 2 (opening)"}, nil},
		{[]string{"how warm is it in the lobby", "what's the temperature in the lobby?", "is it cold in the lobby"}, Comfort, []string{"Temperature is not measured in Lobby"}, []string{"°"}},
		{[]string{"air quality in the canteen", "CO2 level in the canteen?", "is it stuffy in the canteen"}, Comfort, []string{"Air quality is not measured in Canteen"}, nil},
		{[]string{"is anybody in the canteen", "how many people are in the canteen", "is the canteen occupied?"}, Comfort, []string{"Occupancy is not measured"}, nil},
		{[]string{"what is the colour temperature in meeting room alps", "color temperature alps", "how many kelvin in Alps"}, Comfort, []string{"3500 K", "4000 K"}, nil},
		// faults and reach
		{[]string{"are there any faults", "what is broken", "any problems?", "list all alarms", "is something wrong?"}, Maintenance, []string{"Canteen 3", "lamp failure", "Mon 16 Nov 07:45"}, []string{"adapter"}},
		{[]string{"what faults were there yesterday", "which errors occurred yesterday", "alerts yesterday"}, Maintenance, []string{"adapter unplugged", "16:10"}, nil},
		{[]string{"any faults on the ground floor", "is anything broken on the ground floor"}, Maintenance, []string{"Canteen 3"}, []string{"adapter"}},
		{[]string{"what is offline", "which devices are not responding", "list unreachable devices", "show everything that does not answer", "which devices are down"}, Maintenance, []string{"Open office north 8", "Lounge shade", "2 of 50"}, nil},
		{[]string{"how many devices are offline", "number of unreachable devices"}, Maintenance, []string{"2 of 50 devices"}, nil},
		{[]string{"how many lights are offline", "which lights are unreachable"}, Maintenance, []string{"1 of 39 lights", "Open office north 8"}, []string{"Lounge shade"}},
		{[]string{"how long has open office north 8 been offline", "since when is open office north 8 not responding", "when was open office north 8 last seen"}, Maintenance, []string{"5 h 27 min", "09:05"}, nil},
		{[]string{"outages last week", "which devices dropped out last week"}, Maintenance, []string{"Lobby 1", "1 h"}, nil},
		// inventory
		{[]string{"how many lights do we have", "number of lights in the building", "count all lamps"}, SiteAsset, []string{"39 lights"}, nil},
		{[]string{"how many lights are there on the upper floor", "lights on the upper floor: how many?"}, SiteAsset, []string{"20 light"}, nil},
		{[]string{"what zones are on the ground floor", "list the rooms on the ground floor", "which areas does the ground floor have"}, SiteAsset, []string{"3 zones", "Lobby, Canteen and Corridor ground floor"}, nil},
		{[]string{"how many floors are there", "list the floors", "which floors does the building have"}, SiteAsset, []string{"3 floors", "Annex"}, nil},
		{[]string{"which meters do we have", "list all energy meters", "what meters are installed"}, SiteAsset, []string{"5 meters", "Meter Alps"}, nil},
		{[]string{"which floor is the canteen on", "on which floor is the canteen"}, SiteAsset, []string{"Canteen is on Ground floor"}, nil},
		{[]string{"how many shades are in the lobby", "count the blinds in the lobby"}, SiteAsset, []string{"2 shade"}, nil},
		{[]string{"is the controller online", "which controllers are connected", "list controllers", "status of the controller"}, SiteAsset, []string{"Harbour House", "online", "3 s ago"}, nil},
		{[]string{"what firmware does the controller run", "software version of the gateway"}, SiteAsset, []string{"1.4.2"}, nil},
		{[]string{"what scenes are scheduled", "which automations exist?"}, SiteAsset, []string{"I do not know"}, nil},
		// what was asked freely, and answered wrongly at first
		{[]string{"By how many percent did ground floor consumption change from Sunday to Monday?", "how did the ground floor's energy change from sunday to monday"}, EnergyAgent, []string{kwh(at(16, 0), at(17, 0), ground), kwh(at(15, 0), at(16, 0), ground), "more"}, nil},
		{[]string{"Is the consumption of the ground floor higher than usual today?", "is today's consumption on the ground floor normal"}, EnergyAgent,
			[]string{"used " + kwh(at(18, 0), at(18, 14).Add(30*time.Minute), ground), "same hours of the same weekday of the last 4 weeks", "it was " + usualKWh(ground) + " on average"}, nil},
		{[]string{"How much energy does the ground floor use per day on average?"}, EnergyAgent, []string{kwh(at(11, 0), at(18, 0), ground), "in 24 hours"}, nil},
		{[]string{"When was the peak on the ground floor yesterday?"}, EnergyAgent, []string{"The highest power of Ground floor yesterday", "Tue 17 Nov 12:"}, nil},
		{[]string{"Who is the biggest power consumer at the moment?", "which meter shows the highest load?"}, EnergyAgent, []string{"Power now: Meter open offices, with " + kw(offices)}, nil},
		{[]string{"Which room is the brightest?", "what's the brightest room right now"}, SiteAsset, []string{"Open office south, with a mean of 100 %"}, nil},
		{[]string{"Which room is the darkest?"}, SiteAsset, []string{"Meeting room Lakes and Canteen, each with a mean of 0 %"}, nil},
		{[]string{"Which floor has the most lights on?"}, SiteAsset, []string{"Upper floor, with 15 of 20 on (1 unknown); then Ground floor with 7 of 12 on"}, nil},
		{[]string{"What percentage of the lights are on?"}, SiteAsset, []string{"27 of 39", "75 %"}, nil},
		{[]string{"Did somebody forget to switch off the lights in the lobby?"}, SiteAsset, []string{"Yes: all 4 lights"}, nil},
		{[]string{"For how many lights is the state unknown?", "how many lights don't we know the state of?"}, SiteAsset, []string{"3 of 39 lights have no current level"}, nil},
		{[]string{"Which shades have an unknown position?", "which shades do not know where they are?"}, Comfort, []string{"1 of 5 shades has no current position"}, nil},
		{[]string{"What colour are the lights in Alps?"}, Comfort, []string{"3500 K"}, nil},
		{[]string{"How far open are the lobby blinds on average?"}, Comfort, []string{"80 % open"}, nil},
		{[]string{"What's the matter with the canteen lights?", "Which lamp needs replacing?", "when did Canteen 3 fail?"}, Maintenance, []string{"Canteen 3: “lamp failure”"}, nil},
		{[]string{"Which device has been offline the longest?"}, Maintenance, []string{"Offline: Lounge shade"}, nil},
		{[]string{"What percentage of devices is online?"}, Maintenance, []string{"48 of 50", "96 %"}, nil},
		{[]string{"In which room is Canteen 3?", "which zone is Canteen 3 in"}, SiteAsset, []string{"Canteen 3 is in Canteen on Ground floor"}, nil},
		{[]string{"How many DALI lights are there?"}, SiteAsset, []string{"39 lights are of a type with “DALI” in its name"}, nil},
		{[]string{"how many DMX devices do we have?"}, SiteAsset, []string{"I do not know", "“DMX”"}, []string{"50"}},
		{[]string{"Which room has the most lights?"}, SiteAsset, []string{"39 lights by zone: Open office north 8"}, nil},
		{[]string{"What time zone is the site in?"}, SiteAsset, []string{"Europe/Berlin"}, nil},
		{[]string{"Is a rule scheduled for tonight?", "What scenes are defined?"}, SiteAsset, []string{"of scenes, rules and schedules"}, []string{"nothing called"}},
		{[]string{"How much CO2 did we emit yesterday?"}, EnergyAgent, []string{"Emissions are not measured"}, nil},
		{[]string{"How long have you been measuring?"}, User, []string{"what its controller reported"}, nil},
		{[]string{"Did the workshop use anything between 2 and 5 in the morning of the 17th?", "workshop energy on 17 November between 2 and 5 in the morning"}, EnergyAgent, []string{"I do not know", "02:00 to Tue 17 Nov 05:00"}, []string{"Wh"}},
		{[]string{"Did we use more in the open offices this Monday than last Monday?"}, EnergyAgent, []string{kwh(at(16, 0), at(17, 0), offices), kwh(at(9, 0), at(10, 0), offices)}, nil},
		{[]string{"ground floor vs open offices, yesterday: who used more?"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), ground), kwh(at(17, 0), at(18, 0), offices)}, []string{"today"}},
		{[]string{"By what percentage did Alps change from the week of 2 November to the week of 9 November?"}, EnergyAgent, []string{kwh(at(9, 0), at(16, 0), alps), kwh(at(2, 0), at(9, 0), alps), "(5 %)"}, nil},
		{[]string{"Energy used by the second basement yesterday?"}, EnergyAgent, []string{"nothing called", "second basement"}, []string{"kWh"}},
		{[]string{"total for october please, all meters"}, EnergyAgent, []string{kwh(time.Date(2026, 10, 1, 0, 0, 0, 0, sitetest.Location), at(1, 0), all...)}, nil},
		{[]string{"What was the heaviest day for the open offices this month?"}, EnergyAgent, []string{"Tue 3 Nov " + kwh(at(3, 0), at(4, 0), offices)}, nil},
		{[]string{"When did the workshop draw the most on Monday?"}, EnergyAgent, []string{"1.38 kW", "Mon 16 Nov 12:"}, nil},
		{[]string{"average daily consumption of the ground floor last week"}, EnergyAgent, []string{"On average Ground floor used 19.23 kWh in 24 h"}, nil},
		{[]string{"Open offices last week at 31 cents a kWh: what's the bill?", "what did the open offices cost last week at €0.31 per kWh"}, EnergyAgent, []string{kwh(at(9, 0), at(16, 0), offices), "make 62.31"}, nil},
		{[]string{"open offices friday the 13th, kwh"}, EnergyAgent, []string{kwh(at(13, 0), at(14, 0), offices)}, []string{"the same"}},
		{[]string{"I don't care about the lobby, just tell me what the ground floor took today"}, EnergyAgent, []string{"Ground floor used " + kwh(at(18, 0), sitetest.Now, ground)}, []string{"Lobby"}},
		{[]string{"Which lights are on in the lobby and how much energy did it use today?"}, SiteAsset, []string{"All 4 lights in Lobby", "Lobby used " + kwh(at(18, 0), sitetest.Now, lobby)}, nil},
		{[]string{"Tell me the ratio of Alps to the whole building for last week", "what share of last week's energy went into Alps?"}, EnergyAgent, []string{kwh(at(9, 0), at(16, 0), alps), "3 % of the " + kwh(at(9, 0), at(16, 0), all...)}, nil},
		{[]string{"Which rooms are dark right now?"}, SiteAsset, []string{"2 of 10 zones", "Canteen 5 of 5", "Meeting room Lakes 3 of 3"}, []string{"Open office north ("}},
		{[]string{"list every luminaire that is not off on the upper floor"}, SiteAsset, []string{"15 of 20", "Alps 3 (70 %)"}, nil},
		{[]string{"What went wrong yesterday?"}, Maintenance, []string{"adapter unplugged", "Lounge shade from Tue 17 Nov 12:32"}, nil},
		{[]string{"has lobby 1 given us trouble lately?"}, Maintenance, []string{"Lobby 1 from Thu 12 Nov 10:00 until Thu 12 Nov 11:00"}, nil},
		{[]string{"how long was the shade bus down on Tuesday?"}, Maintenance, []string{"16:10 until Tue 17 Nov 16:40"}, nil},
		{[]string{"What are the blinds in the lobby doing?"}, Comfort, []string{"Lobby shade 2 (60 % open)"}, nil},
		{[]string{"Which meter covers the corridor?"}, SiteAsset, []string{"Meter ground floor"}, []string{"nothing called"}},
		// pieces of periods, days of a month, and times that lie relative to others
		{[]string{"what did the open plan offices consume over the weekend"}, EnergyAgent, []string{kwh(at(14, 0), at(16, 0), offices)}, []string{"today"}},
		{[]string{"Alps usage, 9th to 13th of November", "what did Alps use between November 9 and 13"}, EnergyAgent, []string{kwh(at(9, 0), at(14, 0), alps)}, nil},
		{[]string{"workshop kWh from the 10th to the 12th"}, EnergyAgent, []string{kwh(at(10, 0), at(13, 0), workshop)}, nil},
		{[]string{"ground floor usage in the first week of November", "ground floor kWh, first 7 days of November"}, EnergyAgent, []string{kwh(at(1, 0), at(8, 0), ground)}, nil},
		{[]string{"How much did we use on the last two days of October?"}, EnergyAgent, []string{kwh(time.Date(2026, 10, 30, 0, 0, 0, 0, sitetest.Location), at(1, 0), all...)}, nil},
		{[]string{"How many kWh have the open offices gone through since the start of the week?"}, EnergyAgent, []string{kwh(at(16, 0), sitetest.Now, offices)}, nil},
		{[]string{"how does this Tuesday compare to the Tuesday before for the open offices?"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), offices), kwh(at(10, 0), at(11, 0), offices)}, nil},
		{[]string{"compare the third of November with the tenth for the offices"}, EnergyAgent, []string{kwh(at(3, 0), at(4, 0), offices), kwh(at(10, 0), at(11, 0), offices)}, nil},
		{[]string{"yesterday versus the same weekday last week for the ground floor"}, EnergyAgent, []string{kwh(at(17, 0), at(18, 0), ground), kwh(at(10, 0), at(11, 0), ground)}, nil},
		{[]string{"how did the ground floor's use change from the week before last to last week"}, EnergyAgent, []string{kwh(at(9, 0), at(16, 0), ground), kwh(at(2, 0), at(9, 0), ground)}, nil},
		{[]string{"Are we using more electricity now than at this time yesterday?"}, EnergyAgent, []string{kwh(at(18, 14).Add(15*time.Minute), at(18, 14).Add(30*time.Minute), all...), kwh(at(17, 14).Add(15*time.Minute), at(17, 14).Add(30*time.Minute), all...)}, nil},
		{[]string{"usage on the ground floor this morning before 9"}, EnergyAgent, []string{kwh(at(18, 6), at(18, 9), ground)}, nil},
		{[]string{"weekly consumption of the ground floor in October"}, EnergyAgent, []string{"week of 12 Oct " + kwh(time.Date(2026, 10, 12, 0, 0, 0, 0, sitetest.Location), time.Date(2026, 10, 19, 0, 0, 0, 0, sitetest.Location), ground), "week of 26 Oct", "measured for 6 days"}, nil},
		{[]string{"monthly breakdown for the offices"}, EnergyAgent, []string{"November 2026 " + kwh(at(1, 0), sitetest.Now, offices)}, nil},
		{[]string{"kWh of the lobby on 1 November"}, EnergyAgent, []string{"I do not know", "first sample"}, []string{"Lobby 1 on"}},
		// a time that is not understood gets no figure of another one
		{[]string{"kWh for the ground floor over Easter", "energy Mondays versus Fridays", "what did we burn yesterday after hours", "workshop energy for week 46",
			"how many kWh has the lobby needed since it was first measured"}, EnergyAgent, []string{"I did not understand the time"}, []string{" used "}},
		{[]string{"what did we use on New Year's Eve"}, EnergyAgent, []string{"I did not understand the time “new year eve”"}, []string{"kWh", "lights are on"}},
		// shares, meters, states said in other words
		{[]string{"what is the canteen's share of the ground floor yesterday?"}, EnergyAgent, []string{"not measured: no meter measures Canteen"}, []string{"kWh"}},
		{[]string{"the lobby's share of the ground floor yesterday?", "what share of the ground floor was the lobby's yesterday?"}, EnergyAgent,
			[]string{"Lobby used " + kwh(at(17, 0), at(18, 0), lobby) + " yesterday", "Ground floor " + kwh(at(17, 0), at(18, 0), ground), "Careful"}, nil},
		{[]string{"Which areas have no meter of their own?"}, SiteAsset, []string{"Not measured at all: Meeting room Lakes, Annex gallery and Tower lounge", "Canteen (with others"}, []string{"Annex workshop"}},
		{[]string{"how many blinds do we own and in which rooms?"}, SiteAsset, []string{"Lobby 2", "Canteen 2", "Tower lounge 1"}, nil},
		{[]string{"how many kilowatts does the whole place pull at the minute"}, EnergyAgent, []string{"draws " + kw(all...)}, nil},
		{[]string{"Which floor is the hungriest right now?"}, EnergyAgent, []string{"Upper floor, with " + kw(offices, alps)}, nil},
		{[]string{"Could somebody have forgotten to turn the lights off in the annex?"}, SiteAsset, []string{"4 of 6 lights", "Gallery 1 (10 %)"}, nil},
		{[]string{"What's the dimmest lit lamp in the building?"}, SiteAsset, []string{"Gallery 1 (10 %)"}, []string{"Canteen"}},
		{[]string{"are all of the south office lights at full?"}, SiteAsset, []string{"Yes: all 6"}, []string{"north 1"}},
		{[]string{"is Alps brighter than the lobby?"}, SiteAsset, []string{"60 %", "40 %"}, nil},
		{[]string{"are the lobby blinds all the way up?"}, Comfort, []string{"No: 1 of 2"}, nil},
		{[]string{"which devices have gone quiet?", "does everything respond at the moment?"}, Maintenance, []string{"Open office north 8", "Lounge shade"}, nil},
		{[]string{"Anything I should send an electrician to look at?"}, Maintenance, []string{"Canteen 3"}, []string{"kWh"}},
		// everything else
		{[]string{"give me an overview of the building", "how is the building doing?", "status report please"}, User, []string{"Lights: 27 of 39", "lamp failure", "Source"}, nil},
		{[]string{"where does your data come from", "how old is the data?", "how fresh are your readings"}, User, []string{"controller", "3 s ago"}, nil},
		{[]string{"what can you do", "help"}, User, []string{"energy"}, nil},
		{[]string{"what's the weather tomorrow", "will it rain"}, User, []string{"I know nothing called"}, []string{" on", "kWh", " W "}},
		{[]string{"what does electricity cost us this month", "how much money did we spend on energy this month"}, EnergyAgent, []string{"not known to me", kwh(at(1, 0), sitetest.Now, all...)}, []string{"EUR"}},
		{[]string{"what is our carbon footprint this week", "CO2 emissions this week"}, EnergyAgent, []string{"not measured"}, nil},
		{[]string{"lights in the sauna", "which lights are on in the sauna?", "is the sauna light on"}, SiteAsset, []string{"nothing called", "sauna"}, []string{"27"}},
		{[]string{"which lights are on on the seventh floor", "floor 7 lights on?"}, SiteAsset, []string{"nothing called"}, []string{"27"}},
		{[]string{"which lights are on and how much power does the building draw", "Which lights are on? How much power does the building draw now?"}, SiteAsset, []string{"27 of 39", kw(all...)}, nil},
	}
	if len(lines) < 60 {
		t.Fatalf("%d questions, want at least 60", len(lines))
	}
	wordings := 0
	e := on(unchanged())
	for _, l := range lines {
		for _, words := range l.asked {
			wordings++
			r := ask(t, e, platform.Inquiry{Message: words})
			if r.Agent != l.agent {
				t.Errorf("%q: answered by %s, want %s: %s", words, r.Agent, l.agent, r.Text)
			}
			for _, want := range l.want {
				if !strings.Contains(r.Text, want) {
					t.Errorf("%q: %q is missing in: %s", words, want, r.Text)
				}
			}
			for _, never := range l.never {
				if strings.Contains(r.Text, never) {
					t.Errorf("%q: %q has no place in: %s", words, never, r.Text)
				}
			}
		}
	}
	t.Logf("%d questions in %d wordings", len(lines), wordings)
}

// built is what is known of the building.
func (e *Assistant) built(t *testing.T) *facts.Site {
	t.Helper()
	all, err := e.Sites.Controllers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	site, err := facts.Look(t.Context(), e.Sites, all[0], sitetest.Now)
	if err != nil {
		t.Fatal(err)
	}
	return site
}
