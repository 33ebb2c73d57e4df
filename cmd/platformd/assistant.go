package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant"
	"svc.internal/controller/platform/assistant/model"
	"svc.internal/controller/platform/assistant/model/anthropic"
	"svc.internal/controller/platform/assistant/model/openai"
	"svc.internal/controller/platform/chat"
	"svc.internal/controller/platform/gate"
	"svc.internal/controller/platform/mcp"
	"svc.internal/controller/shelf/cli"
)

// settleLeast is how long an order waits for the state that follows it where the controller does not say that it takes longer:
// controllers look every half second what has changed.
const settleLeast = 2 * time.Second

// assist registers the doors of the assistant and of those who speak to rooms, once there are sites to ask about.
func (d *daemon) assist(e *echo.Echo, g *gate.Gate) {
	if d.sites == nil {
		return
	}
	asker := assistant.New(assistant.Config{
		Sites: d.sites, Act: d.act, History: d.db, Model: d.metered(), Price: d.price, Settle: settleLeast, Now: time.Now, Log: d.log,
	})
	d.beside = append(d.beside, asker.Run)
	chat.New(asker, d.log).Register(e, with(g.Key, g.Metered), with(g.Person, g.Metered))
	mcp.New(asker, g.More, version, d.log).Register(e, with(g.Key, g.Metered))
	if d.cloud != nil {
		d.conferencing(e, g, asker)
	}
}

// with passes one, then the other.
func with(first, second echo.MiddlewareFunc) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc { return first(second(next)) }
}

// metered is the model, as far as each key, person and room may have it.
func (d *daemon) metered() model.Model {
	if d.model == nil {
		return nil
	}
	return model.Metered{Of: d.model, Take: func(ctx context.Context) error {
		b := platform.IdentityOf(ctx).Bucket
		if d.limit.Show(ctx, b.Tokens()).Remaining == 0 || !d.limit.Take(ctx, b.Model(), 1).OK {
			return model.ErrSpent
		}
		return nil
	}, Cost: func(ctx context.Context, tokens int) {
		ctx, b := context.WithoutCancel(ctx), platform.IdentityOf(ctx).Bucket.Tokens() // who is gone pays, too
		for range gate.AtOnceMost {                                                    // others take of it meanwhile
			if n := min(tokens, d.limit.Show(ctx, b).Remaining); n == 0 || d.limit.Take(ctx, b, n).OK {
				return
			}
		}
	}}
}

// readModel makes the language model that the environment names; nil for none.
func readModel(getenv func(string) string) (model.Model, error) {
	key, server, name := getenv("ANTHROPIC_API_KEY"), getenv("LLM_URL"), getenv("LLM_MODEL")
	switch {
	case key == "" && server == "":
		return nil, nil
	case name == "":
		return nil, cli.Usage(fmt.Errorf("LLM_MODEL is missing: name the model to use"))
	case server == "":
		return anthropic.New(key, name, "", model.Patience{}), nil
	}
	if u, err := url.Parse(server); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, cli.Usage(fmt.Errorf("LLM_URL: want an address such as http://127.0.0.1:11434/v1"))
	}
	return &openai.Client{URL: server, Key: getenv("LLM_API_KEY"), Model: name}, nil
}

// readPrice reads the tariff; the zero price for none.
func readPrice(getenv func(string) string) (assistant.Price, error) {
	text, currency := getenv("ENERGY_PRICE"), getenv("ENERGY_CURRENCY")
	if text == "" {
		return assistant.Price{}, nil
	}
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p > 0 && p <= 1000) || currency == "" || len(currency) > 10 {
		return assistant.Price{}, cli.Usage(fmt.Errorf("ENERGY_PRICE is %q and ENERGY_CURRENCY %q; want a number above 0 and a currency, such as 0.31 and EUR", text, currency))
	}
	return assistant.Price{PerKWh: p, Currency: currency}, nil
}
