package main

import (
	"net"
	"sync"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// memoryBroker is the little of an MQTT broker that one controller sees of the platform's, on any listener.
type memoryBroker struct {
	take func(topic string, payload []byte) // what the controller says

	mu     sync.Mutex
	member net.Conn // nil: it is away
	kept   map[string][]byte
	number uint16
}

// serve answers until ln is closed.
func (b *memoryBroker) serve(ln net.Listener) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := ln.Accept()
		if err != nil {
			b.cut()
			return
		}
		all.Go(func() { b.converse(c) })
	}
}

// cut ends the session.
func (b *memoryBroker) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.member != nil {
		b.member.Close()
	}
}

func (b *memoryBroker) converse(c net.Conn) {
	defer func() {
		b.mu.Lock()
		if b.member == c {
			b.member = nil
		}
		b.mu.Unlock()
		c.Close()
	}()
	for {
		p, err := packets.ReadPacket(c)
		if err != nil {
			return
		}
		switch p := p.(type) {
		case *packets.ConnectPacket:
			b.write(c, packets.NewControlPacket(packets.Connack))
		case *packets.SubscribePacket:
			ack := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
			ack.MessageID, ack.ReturnCodes = p.MessageID, p.Qoss
			b.write(c, ack)
			b.mu.Lock()
			b.member = c
			for topic, payload := range b.kept {
				b.tell(topic, payload, true)
			}
			b.mu.Unlock()
		case *packets.PublishPacket:
			if p.Qos == 1 {
				ack := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
				ack.MessageID = p.MessageID
				b.write(c, ack)
			}
			b.take(p.TopicName, p.Payload)
		case *packets.PingreqPacket:
			b.write(c, packets.NewControlPacket(packets.Pingresp))
		case *packets.DisconnectPacket:
			return
		}
	}
}

func (b *memoryBroker) write(c net.Conn, p packets.ControlPacket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = p.Write(c) // a session that has ended is noticed by reading
}

// keep tells something to the controller now, and whenever it comes back.
func (b *memoryBroker) keep(topic string, payload []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil {
		b.kept = map[string][]byte{}
	}
	b.kept[topic] = payload
	b.tell(topic, payload, true)
}

// publish tells it now, or never: false.
func (b *memoryBroker) publish(topic string, payload []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tell(topic, payload, false)
}

// tell is called with mu held.
func (b *memoryBroker) tell(topic string, payload []byte, retained bool) bool {
	if b.member == nil {
		return false
	}
	b.number = b.number%60000 + 1
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.TopicName, p.Payload, p.Qos, p.MessageID, p.Retain = topic, payload, 1, b.number, retained
	return p.Write(b.member) == nil
}
