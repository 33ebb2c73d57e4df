package assistant

import (
	"strings"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// cost answers what energy cost, as far as somebody said what it costs.
func (a *asked) cost() (answer, error) {
	if a.q.By == "hour" && a.q.When == nil {
		return a.costOfAnHour()
	}
	a.q.Topic = understand.Energy
	used, err := a.energy()
	if err != nil {
		return answer{}, err
	}
	e, isTotal := used.data.(facts.Energy)
	price, whose := a.priced()
	switch {
	case price.PerKWh <= 0:
		return answer{sentences(a.f("What energy costs here is not known to me: nobody entered a tariff."), used.text), used.data}, nil
	case !isTotal || !e.Known():
		return used, nil
	}
	currency := strings.TrimSuffix(" "+price.Currency, " ") // whoever speaks of cents does not say of which
	text := a.f("%s × %.4g%s per kWh, %s, make %.2f%s.", a.wattHours(e.WattHours), price.PerKWh, currency, whose, e.WattHours/1000*price.PerKWh, currency)
	return answer{sentences(text, used.text), used.data}, nil
}

// priced is the price that energy is reckoned with, and whose it is.
func (a *asked) priced() (Price, string) {
	if t := a.q.Assumed; t.PerKWh > 0 {
		return Price{t.PerKWh, t.Currency}, a.f("as you say")
	}
	return a.price, a.f("the tariff entered for this platform")
}

// costOfAnHour answers what an hour costs at the power that is drawn now.
func (a *asked) costOfAnHour() (answer, error) {
	p := a.site.PowerOf(a.scope)
	now, err := a.powerNow(p)
	price, whose := a.priced()
	switch {
	case err != nil || !p.Known():
		return now, err
	case price.PerKWh <= 0:
		return answer{sentences(a.f("What energy costs here is not known to me: nobody entered a tariff."), now.text), now.data}, nil
	}
	currency := strings.TrimSuffix(" "+price.Currency, " ")
	text := a.f("An hour at the power of now is %s × %.4g%s per kWh, %s, which makes %.3f%s.", a.wattHours(p.Watts), price.PerKWh, currency, whose, p.Watts/1000*price.PerKWh, currency)
	return answer{sentences(text, now.text), now.data}, nil
}

// carbon answers that emissions are not known, with the energy behind them.
func (a *asked) carbon() (answer, error) {
	used, err := a.energy()
	if err != nil {
		return answer{}, err
	}
	return answer{sentences(a.f("Emissions are not measured, and I do not know how your electricity is made, so I give no figure for CO2. The energy behind it:"), used.text), used.data}, nil
}
