package understand

import (
	"slices"
	"strconv"
)

// assumptions reads what the asker wants calculated with: "30 W per lamp", "at 31 cents a kWh".
func (s *sentence) assumptions() {
	for i := 0; i+1 < len(s.t); i++ {
		v, err := strconv.ParseFloat(s.t[i].stem, 64)
		unit, lead, next := s.t[i+1].stem, s.wordAt(i-1), s.wordAt(i+2)
		assumed := slices.Contains([]string{"assume", "assuming", "with"}, lead) || slices.Contains([]string{"per", "each", "a", "pro", "je"}, next)
		if err == nil && !s.t[i].used && v > 0 && v <= 5000 && (unit == "w" || unit == "watt") && assumed {
			s.f.Assumed.Watts = v
			s.f.Set(Estimate, true)
			n := 2
			if slices.Contains([]string{"per", "each", "a", "pro", "je"}, next) && countable(s.wordAt(i+3)) == Light {
				n = 4
			}
			if slices.Contains([]string{"assume", "assuming", "with"}, lead) {
				i, n = i-1, n+1
			}
			s.mark(i, n)
			return
		}
	}
	s.tariff()
}

// tariff reads what the asker says energy costs: "at 31 cents a kWh", "€0.31 per kWh".
func (s *sentence) tariff() {
	for i := range s.t {
		v, err := strconv.ParseFloat(s.t[i].stem, 64)
		coin, ok := coins[s.wordAt(i+1)]
		from, k := i, i+2
		if !ok && i > 0 {
			coin, ok = coins[s.t[i-1].stem]
			from, k = i-1, i+1
		}
		if err == nil && v > 0 && !ok && !s.t[i].used && slices.Contains([]string{"per", "pro", "je"}, s.wordAt(i+1)) && s.wordAt(i+2) == "kwh" { // of whatever currency
			s.f.Assumed.PerKWh = v
			s.mark(i, 3)
			return
		}
		if err != nil || v <= 0 || !ok || s.t[i].used {
			continue
		}
		if w := s.wordAt(k); slices.Contains([]string{"a", "per", "each", "the", "for", "pro", "je", "die"}, w) {
			k++
		}
		if s.wordAt(from-1) == "kwh" { // "wenn die kWh 27 Rappen kostet"
			s.f.Assumed.PerKWh, s.f.Assumed.Currency = v*coin.PerKWh, coin.Currency
			s.mark(from-1, 3)
			return
		}
		if lead := s.wordAt(from - 1); (lead == "at" || lead == "bei") && s.wordAt(k) != "kwh" && coin.PerKWh < 1 && s.word("cost", "costs", "bill", "kostet", "kosten", "pay", "spend") != "" { // "what does today cost at 27 cents"
			s.f.Assumed.PerKWh, s.f.Assumed.Currency = v*coin.PerKWh, coin.Currency
			s.mark(from-1, 3)
			return
		}
		if s.wordAt(k) != "kwh" {
			continue
		}
		s.f.Assumed.PerKWh, s.f.Assumed.Currency = v*coin.PerKWh, coin.Currency
		s.mark(from, k+1-from)
		return
	}
}

// coins are worth so much of a currency.
var coins = map[string]Assumed{"cent": {PerKWh: 0.01}, "ct": {PerKWh: 0.01}, "euro": {PerKWh: 1, Currency: "EUR"}, "eur": {PerKWh: 1, Currency: "EUR"}, "€": {PerKWh: 1, Currency: "EUR"},
	"dollar": {PerKWh: 1, Currency: "USD"}, "usd": {PerKWh: 1, Currency: "USD"}, "$": {PerKWh: 1, Currency: "USD"}, "pound": {PerKWh: 1, Currency: "GBP"}, "gbp": {PerKWh: 1, Currency: "GBP"},
	"penny": {PerKWh: 0.01, Currency: "GBP"}, "rappen": {PerKWh: 0.01, Currency: "CHF"}, "rp": {PerKWh: 0.01, Currency: "CHF"}, "centime": {PerKWh: 0.01}, "pence": {PerKWh: 0.01, Currency: "GBP"}, "p": {PerKWh: 0.01, Currency: "GBP"}, "franc": {PerKWh: 1, Currency: "CHF"}, "chf": {PerKWh: 1, Currency: "CHF"}}
