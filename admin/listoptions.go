package admin

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/inside"
	"github.com/holdfast-go/holdfast/verdict"
)

// ListOptions selects the items of [List]. The zero ListOptions selects all locks that somebody has or waits
// for.
type ListOptions struct {
	// Pattern selects names, without [holdfast.Config.Prefix]. * matches any text, ? any byte, and [abc] one of these
	// bytes. \ before a byte means this byte itself. Defaults to all names.
	Pattern string

	// Kind selects one kind.
	// Defaults to all kinds.
	Kind Kind

	// OlderThan selects locks that their first holder has had for longer than this time.
	OlderThan time.Duration

	// Waiting selects locks for which somebody waits.
	Waiting bool

	// Free adds names that nobody has or waits for. A node remembers a name for two hours after its last use.
	Free bool

	// AsStored lists what the nodes that answer store, also if they are less than a majority or have other settings. For
	// most items Known is then false, and Nodes has the answers.
	AsStored bool

	// Rate is the number of requests per second that List sends to each node at most. A request asks about four names,
	// or examines 100 keys, so it delays other clients hardly longer than a lock and its unlock do. Defaults to 500.
	Rate int
}

// defaultRate is the default of [ListOptions.Rate], and leastRate its smallest value.
const (
	defaultRate = 500
	leastRate   = 10
)

// withDefaults checks the options and sets the default rate.
func (o ListOptions) withDefaults() (ListOptions, error) {
	if o.Rate == 0 {
		o.Rate = defaultRate
	}
	switch {
	case o.Rate < leastRate:
		return o, inside.BadField("Rate", "{Rate} is %d requests per second; it must be at least %d", o.Rate, leastRate)
	case o.OlderThan < 0:
		return o, inside.BadField("OlderThan", "{OlderThan} is %s; it must be 0 or more", o.OlderThan)
	case o.Kind != "" && !slices.Contains(lockKinds, o.Kind):
		return o, inside.BadField("Kind", "{Kind} is %q; it must be %s", string(o.Kind), namesOfKinds(lockKinds))
	}
	return o, nil
}

func namesOfKinds(kinds []Kind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, string(k))
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// glob returns a function that reports whether a name matches the pattern.
func glob(pattern string) (func(name string) bool, error) {
	if pattern == "" {
		return func(string) bool { return true }, nil
	}
	pattern = runesOf(pattern)
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			end := strings.IndexByte(pattern[i:], ']')
			if end < 2 {
				return nil, fmt.Errorf("the [ at byte %d begins no set such as [abc]; write \\[ for the byte itself", len([]rune(pattern[:i]))+1)
			}
			set := pattern[i+1 : i+end]
			not := strings.HasPrefix(set, "^")
			b.WriteByte('[')
			if not {
				b.WriteByte('^')
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `^`, `\^`, `[`, `\[`).Replace(strings.TrimPrefix(set, "^")) + "]")
			i += end
		case '\\':
			if i++; i == len(pattern) {
				return nil, errors.New(`it ends with a \; write \\ for the byte itself`)
			}
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	re, err := regexp.Compile(b.String() + `\z`)
	if err != nil {
		return nil, errors.New("a set in [] is not valid")
	}
	return func(name string) bool { return re.MatchString(runesOf(name)) }, nil
}

// runesOf returns a text with one rune for each byte of s, because package regexp matches runes and patterns match
// bytes. The first 128 runes stay as they are.
func runesOf(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// selects reports whether the options select an item.
func (o ListOptions) selects(s *NameStatus) bool {
	named := slices.ContainsFunc(s.Nodes, func(n verdict.Answer) bool { return n.Held() || !s.Known && n.Reason == verdict.ReasonCorrupt })
	switch {
	case !o.Free && !named && s.Waiters == 0:
		return false
	case o.Kind != "" && s.Kind != o.Kind, o.Waiting && s.Waiters == 0:
		return false
	case o.OlderThan > 0:
		h := s.Holder()
		return s.Known && s.Held && !h.Since.IsZero() && s.at.Sub(h.Since) > o.OlderThan
	}
	return true
}
