package sdnsim

import (
	"slices"
	"time"
)

// isFor reports whether a message addresses a motor, alone or with others.
func (m *motor) isFor(f Message) bool {
	if f.To != 0 && f.To != m.Type {
		return false
	}
	switch f.Dst {
	case m.address, everybody:
		return true
	case nobody:
		return f.Src != nobody && slices.Contains(m.groups[:], f.Src)
	}
	return false
}

// obey carries a message out and returns the answer it is due; no ID: none.
func (m *motor) obey(now time.Time, f Message) (id byte, data []byte) {
	m.advance(now)
	switch {
	case f.ID&0xF0 == 0x00 && f.ID < 0x0C || f.ID&0xF0 == 0x50:
		m.orders++
		why := byte(0xFF)
		if m.busyFor > 0 {
			m.busyFor--
		} else {
			why = m.order(now, f)
		}
		switch {
		case !f.Ack:
			return 0, nil
		case why != 0:
			return 0x6F, []byte{why}
		}
		return 0x7F, nil
	}
	id, data = m.tell(f)
	if id == 0 && f.Ack {
		return 0x6F, []byte{badMessage}
	}
	return id, data
}

// lengths of the data of orders.
var lengths = map[byte]int{0x01: 3, 0x02: 1, 0x03: 4, 0x04: 4, 0x05: 0, 0x06: 5, 0x51: 4, 0x55: 16}

// order carries out a CTRL or SET and returns the reason if it does not.
func (m *motor) order(now time.Time, f Message) (why byte) {
	need, known := lengths[f.ID]
	switch {
	case !known:
		return badMessage
	case len(f.Data) != need:
		return badLength
	}
	value := func() float64 { return float64(f.Data[1]) + 256*float64(f.Data[2]) }
	switch f.ID {
	case 0x02:
		m.stop(now, byNetwork)
		return 0
	case 0x06:
		return m.lock(now, f.Data)
	case 0x51:
		return m.setGroup(f.Data)
	case 0x55:
		if !m.labelled {
			copy(m.label[:], f.Data)
		}
		return 0
	}
	if why := m.protects(); why != 0 {
		return why
	}
	switch f.ID {
	case 0x01:
		return m.momentary(now, f.Data)
	case 0x03:
		return m.moveTo(now, f.Data[0], value())
	case 0x04:
		return m.moveOf(now, f.Data[0], value())
	default: // 05
		m.winks++
		m.cause = winked
		return 0
	}
}

func (m *motor) moveTo(now time.Time, function byte, value float64) (why byte) {
	switch function {
	case 0:
		m.send(now, float64(m.Limit), byNetwork)
	case 1:
		m.send(now, 0, byNetwork)
	case 2:
		n := int(value)
		if n < 1 || n > 16 {
			return badData
		}
		if m.ips[n-1] < 0 {
			return ipMissing
		}
		m.send(now, float64(m.ips[n-1]), byNetwork)
	case 3:
		if value > float64(m.Limit) {
			return outOfRange
		}
		m.send(now, value, byNetwork)
	case 4:
		if value > 100 {
			return badData
		}
		m.send(now, value/100*float64(m.Limit), byNetwork)
	default:
		return badData
	}
	return 0
}

func (m *motor) moveOf(now time.Time, function byte, value float64) (why byte) {
	switch function {
	case 0, 1:
		best, found := 0.0, false
		for _, ip := range m.ips {
			at := float64(ip)
			beyond := function == 0 && at > m.pulses || function == 1 && at < m.pulses
			if ip >= 0 && beyond && (!found || (at < best) == (function == 0)) {
				best, found = at, true
			}
		}
		if !found {
			return lastIP
		}
		m.send(now, best, byNetwork)
	case 2:
		m.send(now, m.pulses+value, byNetwork)
	case 3:
		m.send(now, m.pulses-value, byNetwork)
	case 4:
		m.send(now, m.pulses+value/100*float64(m.Limit)/m.Down.Seconds(), byNetwork)
	case 5:
		m.send(now, m.pulses-value/100*float64(m.Limit)/m.Up.Seconds(), byNetwork)
	default:
		return badData
	}
	return 0
}

func (m *motor) momentary(now time.Time, data []byte) (why byte) {
	switch {
	case data[0] == 2:
		m.stop(now, byNetwork)
	case data[0] > 2 || data[1] < 0x0A:
		return badData
	case data[0] == 0:
		return m.moveOf(now, 4, float64(data[1]))
	default:
		return m.moveOf(now, 5, float64(data[1]))
	}
	return 0
}

func (m *motor) lock(now time.Time, data []byte) (why byte) {
	if m.lockedBy && data[3] < m.lockLevel {
		return isLocked
	}
	switch data[0] {
	case 0:
		m.stop(now, byNetwork)
		m.lockedBy, m.lockLevel, m.state = true, data[3], locked
	case 5:
		m.lockedBy = false
		if m.state == locked {
			m.state = stopped
		}
	default:
		return badData
	}
	return 0
}

func (m *motor) setGroup(data []byte) (why byte) {
	if data[0] > 15 {
		return badData
	}
	m.groups[data[0]] = uint32(data[1]) | uint32(data[2])<<8 | uint32(data[3])<<16
	return 0
}

// tell answers a GET; no ID: it does not know the question.
func (m *motor) tell(f Message) (id byte, data []byte) {
	index := 255
	if len(f.Data) > 0 {
		index = int(f.Data[0])
	}
	switch f.ID {
	case 0x0C:
		p := uint16(m.pulses)
		if !m.hasLimits() {
			p = 0xFFFF
		}
		return 0x0D, []byte{byte(p), byte(p >> 8), m.percent(), 0xFF, m.atIP()}
	case 0x0E:
		return 0x0F, []byte{m.state, m.last, m.source, m.cause}
	case 0x21:
		p := uint16(0xFFFF)
		if m.hasLimits() {
			p = uint16(m.Limit)
		}
		return 0x31, []byte{0, 0, byte(p), byte(p >> 8)}
	case 0x40:
		return 0x60, nil
	case 0x41:
		if index > 15 {
			return 0x6F, []byte{badData}
		}
		g := m.groups[index]
		return 0x61, []byte{byte(index), byte(g), byte(g >> 8), byte(g >> 16)}
	case 0x45:
		return 0x65, m.label[:]
	case 0x74:
		return 0x75, []byte{0x50, 0x63, 0x04, 0x41, 0x01, 0x02}
	}
	return 0, nil
}

func (m *motor) atIP() byte {
	for i, ip := range m.ips {
		if ip >= 0 && ip == int(m.pulses) {
			return byte(i + 1)
		}
	}
	return 0xFF
}
