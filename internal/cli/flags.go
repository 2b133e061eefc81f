package cli

import (
	"errors"
	"strings"
	"time"
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
