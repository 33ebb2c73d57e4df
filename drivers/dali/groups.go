package dali

import (
	"context"
	"fmt"
	"math/bits"

	"svc.internal/controller/appliance"
)

// QueryGroups reads which groups a gear holds; bit n stands for group n.
func QueryGroups(ctx context.Context, tx Transmitter, short int) (uint16, error) {
	to := Short(short)
	answers, err := tx.Transmit(ctx, Command(to, OpQueryGroupsLow), Command(to, OpQueryGroupsHigh))
	if err != nil {
		return 0, fmt.Errorf("read groups of short address %d: %w", short, err)
	}
	var set uint16
	for i, a := range answers {
		switch a.Kind {
		case AnswerNone:
			return 0, fmt.Errorf("read groups of short address %d: %w", short, appliance.ErrSilent)
		case AnswerGarbled:
			return 0, fmt.Errorf("read groups of short address %d: %w: several gears answer", short, appliance.ErrDamaged)
		}
		set |= uint16(a.Value) << (8 * i)
	}
	return set, nil
}

// SetGroups makes a gear hold exactly these groups; bit n stands for group n. Only
// what differs is written, and all is read back. Gear keeps groups in flash memory:
// call it when the site changes, not regularly.
func SetGroups(ctx context.Context, tx Transmitter, short int, want uint16) error {
	for range sendTries {
		have, err := QueryGroups(ctx, tx, short)
		if err != nil {
			return err
		}
		if have == want {
			return nil
		}
		for differ := have ^ want; differ != 0; differ &= differ - 1 {
			n := bits.TrailingZeros16(differ)
			op := byte(OpAddGroup + n)
			if have>>n&1 != 0 {
				op = byte(OpRemoveGroup + n)
			}
			if _, err := tx.Transmit(ctx, Command(Short(short), op)); err != nil {
				return fmt.Errorf("write group %d of short address %d: %w", n, short, err)
			}
		}
	}
	return fmt.Errorf("write groups of short address %d: %w: it does not keep them", short, appliance.ErrMismatch)
}

// QueryScenes reads the level that a gear keeps for each scene; [Mask]: none.
func QueryScenes(ctx context.Context, tx Transmitter, short int) (levels [Scenes]byte, err error) {
	for n := range levels {
		answers, err := tx.Transmit(ctx, Command(Short(short), byte(OpQueryScene+n)))
		if err == nil && answers[0].Kind != AnswerValue {
			err = fmt.Errorf("%w: %v", appliance.ErrSilent, answers[0])
		}
		if err != nil {
			return levels, fmt.Errorf("read scene %d of short address %d: %w", n, short, err)
		}
		levels[n] = answers[0].Value
	}
	return levels, nil
}

// Identify lets gear show itself, by IDENTIFY DEVICE (2014 edition and later: some
// 10 s). Older gear ignores it; there, RECALL MAX and MIN in turn do the same.
func Identify(ctx context.Context, tx Transmitter, to Address) error {
	if _, err := tx.Transmit(ctx, Command(to, OpIdentify)); err != nil {
		return fmt.Errorf("identify %v: %w", to, err)
	}
	return nil
}
