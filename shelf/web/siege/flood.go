package siege

import (
	"context"
	"crypto/tls"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/google/uuid"
)

// A Flood is of a controller gone mad, which has its credentials: what it retains is large,
// and on ever new topics.
type Flood struct {
	Broker, Client, User, Password string
	Topic                          string // a number is added to it
	// Bodies of messages, in turn, in which # stands for a new ID, % for the number, @ for the time and ~ for 50 kB.
	Bodies []string
}

const (
	// floodWindow is how many messages may be under way.
	floodWindow = 16
	// floodPatience is how long the broker may take to let it in, and to acknowledge a message.
	floodPatience = 10 * time.Second
)

func (f Flood) run(ctx context.Context, count *counts) {
	for ctx.Err() == nil {
		count.add(ctx, "flood: sessions", f.session(ctx, count))
		pause(ctx, held)
	}
}

// session floods until it is thrown out.
func (f Flood) session(ctx context.Context, count *counts) string {
	lost := make(chan struct{}, 1)
	o := mqtt.NewClientOptions().AddBroker(strings.Replace(f.Broker, "mqtts://", "ssl://", 1)).SetClientID(f.Client).
		SetUsername(f.User).SetPassword(f.Password).SetAutoReconnect(false).SetConnectTimeout(floodPatience).
		SetTLSConfig(&tls.Config{InsecureSkipVerify: true}).SetProtocolVersion(4).
		SetConnectionLostHandler(func(mqtt.Client, error) { lost <- struct{}{} })
	c := mqtt.NewClient(o)
	if t := c.Connect(); !t.WaitTimeout(floodPatience) || t.Error() != nil {
		return notLetIn
	}
	defer c.Disconnect(0)
	filler := strings.Repeat("mad ", 12_500)
	under := make(chan mqtt.Token, floodWindow)
	for n := rand.IntN(1 << 40); ctx.Err() == nil; n++ {
		text := strings.NewReplacer("#", uuid.Must(uuid.NewV7()).String(), "%", strconv.Itoa(n), "@", time.Now().UTC().Format(time.RFC3339), "~", filler).Replace(f.Bodies[n%len(f.Bodies)])
		select {
		case <-lost:
			return "thrown out"
		case under <- c.Publish(f.Topic+strconv.Itoa(n), 1, true, text):
			count.add(ctx, "flood", "sent")
		}
		if len(under) < floodWindow {
			continue
		}
		if t := <-under; !t.WaitTimeout(floodPatience) {
			return "not acknowledged"
		}
	}
	return "to the end"
}
