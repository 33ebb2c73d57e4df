package dali

import (
	"errors"
	"testing"

	"svc.internal/controller/appliance"
)

func TestOnlyGearThatCanIsToldToShowItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer Answer
		want   error
	}{
		"second edition": {Answer{AnswerValue, 8}, nil},
		"later":          {Answer{AnswerValue, 9}, nil},
		"first edition":  {Answer{AnswerValue, 1}, appliance.ErrUnable},
		"nobody":         {Answer{}, appliance.ErrSilent},
	} {
		if err := canShow(c.answer); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if canShow(Answer{Kind: AnswerGarbled}) == nil {
		t.Error("several gears with one address pass for one")
	}
}
