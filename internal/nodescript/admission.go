package nodescript

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// Hello is what a node says of itself: which incarnation it is, and its clock.
type Hello struct {
	Time    int64  // µs
	Run     string // run id: new at every start of the server
	Version string // such as "Redis 7.0.15"
}

// ParseHello reads the reply to hello.
func ParseHello(r node.Reply) (h Hello, err error) {
	if r.Err != nil {
		return h, r.Err
	}
	run, version, ok := strings.Cut(r.Value, "\n")
	if !ok || len(run) <= digits || len(run) > 200 {
		return h, errors.New("it does not tell its run_id (INFO server); is this Redis or Valkey?")
	}
	if h.Time, err = parseMicros(run[:digits]); err != nil {
		return h, errors.New("it does not tell its TIME; is this Redis or Valkey?")
	}
	h.Run, h.Version = strings.Clone(run[digits:]), strings.Clone(version)
	return h, nil
}

// oldest is the first Redis that writes no SCRIPT LOAD to its AOF and its replicas.
const oldest = 7

// Unfit is why such a server can be no node, or "". One before Redis 7 still has the scripts of the incarnation
// before when it has loaded its AOF, and the guard with them: nothing would tell that it restarted.
func (h Hello) Unfit() string {
	version, ok := strings.CutPrefix(h.Version, "Redis ")
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); !ok || err != nil || n >= oldest {
		return ""
	}
	return "it is " + h.Version + ", which keeps scripts over a restart; Redis 7.0 or later, or Valkey, is needed"
}

// AdmitCall asks a node to vote. stamp must be confirmed by a majority of the nodes'
// clocks: a machine that boots with a wrong clock must not count its own quarantine.
func AdmitCall(c Config, stamp int64) node.Call {
	w := c.Window.Microseconds()
	return node.Call{Args: []string{Micros(stamp - w), Micros(stamp + w)}}
}

// TrustCall leaves an operator's voucher on a node; the next admit of a client with this
// configuration uses it up, and may replace another configuration by it. A voucher
// that is the run id alone is for whatever configuration the node has, or gets first.
func TrustCall(c Config) node.Call { return node.Call{Args: []string{millis(time.Minute), c.String()}} }

// difference names the settings in which two configurations differ.
func difference(theirs, ours string) string {
	has := map[string]bool{}
	for _, f := range strings.Fields(theirs) {
		has[f] = true
	}
	var a, b []string
	for _, f := range strings.Fields(ours) {
		if !has[f] {
			b = append(b, f)
		}
		delete(has, f)
	}
	for _, f := range strings.Fields(theirs) {
		if has[f] {
			a = append(a, f)
		}
	}
	s := "the node has " + strings.Join(a, " ") + ", this client " + strings.Join(b, " ")
	if len(a) == 1 && strings.HasPrefix(a[0], "cluster=") {
		s += "; without a name for the node set it is a hash of the nodes' URLs, which must then be spelt the same everywhere"
	}
	return s
}

// admitOp names admit in messages; it is not loaded, so it has no Op.
type admitOp struct{}

func (admitOp) String() string { return "admit" }

// ParseAdmit reads the reply to admit: Done (it votes), Quarantined, OffClock,
// Misconfigured, Unfit, NotAdmitted (another incarnation than hello found) or Failed.
func ParseAdmit(c Config, r node.Reply) Answer {
	if r.Err != nil {
		return Answer{Verdict: Failed, Err: r.Err}
	}
	if r.Value == "" {
		return unreadable(admitOp{}, r.Value)
	}
	var a Answer
	var err error
	rest := strings.Clone(r.Value[1:])
	switch r.Value[0] {
	case 'R', 'O':
		a.Verdict = Done
		if r.Value[0] == 'O' {
			a.Verdict = OffClock
		}
		a.Time, err = parseMicros(rest)
	case 'Q':
		if len(rest) < 2*digits {
			return unreadable(admitOp{}, r.Value)
		}
		a.Verdict, a.Detail = Quarantined, rest[2*digits:]
		if a.Time, err = parseMicros(rest[:digits]); err == nil {
			a.Left, err = parseLeft(rest[digits : 2*digits])
		}
		// A hostile server must not shut itself out of the set for years.
		a.Left = min(a.Left, c.Quarantine())
	case 'M':
		a.Verdict, a.Detail = Misconfigured, difference(rest, c.String())
	case 'U':
		a.Verdict, a.Detail = Unfit, rest
	case 'I':
		a.Verdict = NotAdmitted
	default:
		return unreadable(admitOp{}, r.Value)
	}
	if err != nil {
		return unreadable(admitOp{}, r.Value)
	}
	return a
}
