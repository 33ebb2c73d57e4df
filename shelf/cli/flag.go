package cli

import (
	"errors"
	"log/slog"
	"regexp"
	"strings"
)

// levelFlag is the flag --log-level.
type levelFlag struct{ *slog.LevelVar }

// Set takes the name of a level.
func (f levelFlag) Set(text string) error {
	if err := f.UnmarshalText([]byte(text)); err != nil {
		return errors.New("want DEBUG, INFO, WARN or ERROR")
	}
	return nil
}

// String is the name of the level in force; help shows the one at the start.
func (f levelFlag) String() string {
	if f.LevelVar == nil {
		return ""
	}
	return f.Level().String()
}

// Type is what help calls the value.
func (levelFlag) Type() string { return "level" }

// exclusive is what cobra says of flags that cannot be given together.
var exclusive = regexp.MustCompile(`; \[([^\]]+)\] were all set$`)

// flagGroups words what cobra says of flags that do not go together.
func flagGroups(err error) string {
	together := exclusive.FindStringSubmatch(err.Error())
	if together == nil {
		return err.Error()
	}
	return "--" + strings.Join(strings.Fields(together[1]), " and --") + " exclude each other"
}
