package nodescript

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"
)

// Op is one of the scripts that are loaded on a node. A client calls them by their digest.
type Op uint8

// These scripts are loaded after admit. Of these others, clients send the whole text each time: hello, admit, trust,
// inspect, peers, peek, scan, look, have, and a release with the part force.
const (
	Acquire Op = iota
	Release
	Extend
	Leave
	Refresh
	Quit
	AcquireSlot
	ReleaseSlot
	AcquireShared
	ReleaseShared
	ExtendShared
	LeaveShared
	LoadValue
	StoreValue
	ops
)

// These are the properties of operations.
const (
	givesBack = 1 << iota // it only gives something back
	mayGrant              // it may grant or prolong a lease, or store a value
	handsOn               // it may hand a name on to a waiter
)

// scripts describes the operations. An operation for readers has the answers of its exclusive operation, in the same
// form. width is the number of arguments of one call, or 0 if one script call cannot run several calls.
var scripts = [ops]struct {
	name       string
	exclusive  Op
	properties uint8
	width      int
}{
	Acquire:       {"acquire", Acquire, mayGrant, 4},
	Release:       {"release", Release, givesBack | handsOn, 4},
	Extend:        {"extend", Extend, mayGrant, 5},
	Leave:         {"leave", Leave, givesBack, 0},
	Refresh:       {"refresh", Refresh, 0, 0},
	Quit:          {"quit", Quit, givesBack, 0},
	AcquireSlot:   {"acquireslot", AcquireSlot, mayGrant, 6},
	ReleaseSlot:   {"releaseslot", ReleaseSlot, givesBack | handsOn, 7},
	AcquireShared: {"acquire-shared", Acquire, mayGrant, 4},
	ReleaseShared: {"release-shared", Release, givesBack | handsOn, 4},
	ExtendShared:  {"extend-shared", Extend, mayGrant, 5},
	LeaveShared:   {"leave-shared", Leave, givesBack, 0},
	LoadValue:     {"load", LoadValue, 0, 0},
	StoreValue:    {"store", StoreValue, mayGrant, 0},
}

func (o Op) String() string { return scripts[o].name }

// GivesBack reports whether o only gives something back. A node does that even if it does not vote.
func (o Op) GivesBack() bool { return scripts[o].properties&givesBack != 0 }

// Grants reports whether o may grant or prolong a lease, or store a value. A node that waits for its replicas does so
// after these operations.
func (o Op) Grants() bool { return scripts[o].properties&mayGrant != 0 }

// HandsOn reports whether o may hand a name on to a waiter. Such a call goes last in a pipeline: see package fanout.
func (o Op) HandsOn() bool { return scripts[o].properties&handsOn != 0 }

// Exclusive returns the operation for writers that corresponds to an operation for readers. Both have answers in the
// same form.
func (o Op) Exclusive() Op { return scripts[o].exclusive }

// Scripts contains the scripts for one configuration and one incarnation of a node. The text of each script contains
// the configuration and the run id. So a restarted server does not know these scripts, and clients notice the restart.
// On a server with another configuration the scripts do not find their guard, and answer that the node does not vote.
type Scripts struct {
	Run   string // the run id of the incarnation
	Admit string // the text of admit
	texts [ops]string
	shas  [ops]string
}

// NewScripts returns the scripts for a node's incarnation.
func NewScripts(c Config, run string) *Scripts {
	values := valuesOf(c, run)
	t := templates()
	if c.Sharded {
		t = shardedTemplates()
	}
	s := &Scripts{Run: run, Admit: t.admit.fill(values)}
	for op := range ops {
		s.texts[op] = t.ops[op].fill(values)
		if c.Sharded {
			s.texts[op] = Sharded(s.texts[op])
		}
		sum := sha1.Sum([]byte(s.texts[op]))
		s.shas[op] = hex.EncodeToString(sum[:])
	}
	return s
}

// ForceText returns the script with which an operator ends a lease. It is the script of op, a release, and the part
// force. It is the same for all incarnations of a node.
func ForceText(c Config, op Op) string { return templates().force[op].fill(valuesOf(c, "")) }

func valuesOf(c Config, run string) map[string]string {
	return map[string]string{
		"CLAIM":      strconv.FormatInt(c.Claim().Microseconds(), 10),
		"CLAIM16":    Micros(c.Claim().Microseconds()),
		"CLAIMMS":    strconv.FormatInt(c.Claim().Milliseconds(), 10),
		"STAYMS":     strconv.FormatInt(c.Stays().Milliseconds(), 10),
		"QUEUEMS":    strconv.FormatInt(QueueKept.Milliseconds(), 10),
		"CLAMP":      clamp,
		"LONGEST":    longest,
		"MOSTSLOTS":  strconv.Itoa(MostSlots),
		"OWNER":      strconv.Itoa(MostOwner),
		"BATCH":      strconv.Itoa(MostClaims),
		"MARKER":     Marker,
		"NAMEDMOST":  strconv.Itoa(MostNamed),
		"NAMEDSIZE":  strconv.Itoa(namedSize),
		"GUARD":      quote(c.String() + " " + run),
		"CONFIG":     quote(c.String()),
		"NOTMODE":    map[bool]string{false: "1", true: "0"}[c.Sharded],
		"RUN":        quote(run),
		"WINDOW":     strconv.FormatInt(c.Window.Microseconds(), 10),
		"QUARANTINE": strconv.FormatInt(c.Quarantine().Microseconds(), 10),
		"NAMED":      strconv.FormatInt(c.NamedQuarantine().Microseconds(), 10),
		"TRUSTED":    strconv.FormatInt(c.TrustedQuarantine().Microseconds(), 10),
		"GUARDMS":    strconv.FormatInt(GuardKept.Milliseconds(), 10),
		"KEPTMS":     strconv.FormatInt(ceilMillis(GuardKept+c.Quarantine()), 10),
		"VOUCHERMS":  millis(VoucherKept),
		"NEVER":      never,
		"DURABLE":    strconv.FormatBool(c.Durable),
		"VALUEMS":    millis(ValueKept),
		"VALUEUS":    strconv.FormatInt(ValueKept.Microseconds(), 10),
		"MOSTVALUE":  strconv.Itoa(valueHead + MostValue),
	}
}

// SHA returns the digest of the script of op.
func (s *Scripts) SHA(op Op) string { return s.shas[op] }

// Load returns the texts of all scripts that are loaded after admit.
func (s *Scripts) Load() []string { return s.texts[:] }

// quote escapes s for use between the single quotes of a Lua string. A run id comes from the server, which may be
// hostile and send quotes.
func quote(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\' || c < ' ' || c > '~':
			b.WriteString(`\` + pad3(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func pad3(c byte) string { return string([]byte{'0' + c/100, '0' + c/10%10, '0' + c%10}) }
