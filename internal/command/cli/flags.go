package cli

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// nodeList is a flag: URLs, separated by commas or white space. Given again it adds to
// what was given: if the last one counted, a node set would shrink unseen. One that is
// given and names nothing is a variable somebody forgot to set, and must not become the
// default.
type nodeList []string

func (l *nodeList) String() string { return strings.Join(*l, ",") }

func (*nodeList) Type() string { return "URLs" }

func (l *nodeList) Set(text string) error {
	list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
	if len(list) == 0 {
		return errors.New("want the URL of at least one node")
	}
	*l = append(*l, list...)
	return nil
}

// duration is a flag that says what it wants.
type duration struct {
	value time.Duration
	zero  bool // zero is a value
	given bool
}

func (d *duration) String() string {
	if !d.given {
		return ""
	}
	return d.value.String()
}

func (*duration) Type() string { return "duration" }

func (d *duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil && text == "0":
	case err != nil && wellFormed.MatchString(text):
		return fmt.Errorf("too large; the largest is %dh", time.Duration(math.MaxInt64)/time.Hour)
	case err != nil:
		return errors.New("want a duration such as 500ms, 10s or 5m")
	case v < 0 && d.zero:
		return errors.New("want a duration of at least 0s")
	case v <= 0 && !d.zero:
		return errors.New("want a duration of more than 0s")
	}
	d.value, d.given = v, true
	return nil
}

// wellFormed matches what time.ParseDuration understands unless it is too large: that error has no type of its own.
var wellFormed = regexp.MustCompile(`^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)

var errNoMeaning = errors.New("has no meaning here")

// meaningless is a flag of other commands. Left out it would be "unknown", which it is not;
// inherited it would be ignored, and who gave it believe that it was heeded.
type meaningless struct{ pflag.Value }

func (meaningless) Set(string) error { return errNoMeaning }

// refuse puts flags in front of those that a command would inherit. Help does not list them.
func refuse(inherited, own *pflag.FlagSet) {
	inherited.VisitAll(func(f *pflag.Flag) {
		refused := *f
		refused.Value, refused.Hidden = meaningless{f.Value}, true
		own.AddFlag(&refused)
	})
}
