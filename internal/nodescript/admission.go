package nodescript

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/clean"
	"github.com/holdfast-go/holdfast/node"
)

// Hello is what a node says of itself: which incarnation it is, and its clock.
type Hello struct {
	Time    int64  // µs
	Run     string // run id: new at every start of the server
	Version string // such as "Redis 7.0.15"
	ID      string // of the server and what it keeps: the same after a restart with its data; "" before its first admission
	Lax     Cause  // why it is not as durable as its clients declare; NoCause if it is, or is not known
	Sync    string // its appendfsync, where Lax is SyncNotAlways
}

// ParseHello reads the reply to hello.
func ParseHello(r node.Reply) (h Hello, err error) {
	if r.Err != nil {
		return h, noScripts(r.Err)
	}
	run, version, ok := strings.Cut(r.Value, "\n")
	if !ok || len(run) <= digits || len(run) > 200 {
		return h, Unreadable("it does not tell its run_id (INFO server); is this Redis or Valkey?")
	}
	if h.Time, err = parseMicros(run[:digits]); err != nil {
		return h, Unreadable("it does not tell its TIME; is this Redis or Valkey?")
	}
	version, id, _ := strings.Cut(version, "\n")
	h.Run, h.Version = strings.Clone(run[digits:]), clean.Text(version)
	if strings.ContainsFunc(h.Run, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return Hello{}, Unreadable(fmt.Sprintf("its run_id is %q, which no Redis or Valkey has", h.Run))
	}
	if id != "" {
		h.ID = CleanID(id)
	}
	return h, nil
}

// ErrNoScripts is the error of a Sentinel, or a proxy, whose own words quote the script.
var ErrNoScripts error = &node.Error{Code: node.Generic, Message: "it knows no EVAL: a Sentinel, or a proxy, is no node; " +
	"give the address of a Redis or Valkey server itself"}

// noScripts returns ErrNoScripts if err is a server's word that it knows no EVAL, else err. Redis has no code for that.
func noScripts(err error) error {
	var e *node.Error
	if errors.As(err, &e) && strings.Contains(strings.ToLower(e.Message), "unknown command") && strings.Contains(strings.ToUpper(e.Message), "EVAL") {
		return ErrNoScripts
	}
	return err
}

// oldest is the first Redis that writes no SCRIPT LOAD to its AOF and its replicas.
const oldest = 7

// Unfit returns why such a server can be no node: [NoCause] if it can. A Redis before 7 that restarts loads its scripts
// and the guard from its AOF. Nothing would tell that it restarted.
func (h Hello) Unfit() (Cause, *Evidence) {
	if h.Lax != NoCause {
		return h.Lax, &Evidence{Value: h.Sync}
	}
	version, ok := strings.CutPrefix(h.Version, "Redis ")
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); !ok || err != nil || n >= oldest {
		return NoCause, nil
	}
	return VersionTooOld, &Evidence{Value: h.Version}
}

// AdmitCall asks a node to vote. stamp must be confirmed by a majority of the nodes'
// clocks: a machine that boots with a wrong clock must not count its own quarantine. within is by how much the node's clock
// may differ from it, a window at most: less where the stamp may be off by more than a window itself.
// challenge is what the node answered last, "" if nothing; stamp must be drawn after that
// answer. nonce is random.
func AdmitCall(stamp int64, within time.Duration, challenge, nonce string) node.Call {
	w := within.Microseconds()
	return node.Call{Args: []string{Micros(stamp - w), Micros(stamp + w), challenge, nonce}}
}

// VoucherKept is how long a voucher waits to be used.
const VoucherKept = time.Minute

// LoadCall is an admit that admits nobody, since no clock lies in its window: the scripts that follow its answer are loaded.
// [ParseAdmit] answers OffClock where they are for the node's incarnation. Where they are not, none follow: see OtherRun.
func LoadCall() node.Call { return node.Call{Args: []string{Micros(0), Micros(0), "", ""}} }

// TrustCall leaves an operator's voucher on a node; the next admit of a client with this
// configuration uses it up, and may replace another configuration by it. names is the
// challenge or mark of the refusal it is for: Answer.Names. It does nothing to any other.
func TrustCall(c Config, names string) node.Call {
	return node.Call{Args: []string{millis(VoucherKept), c.String(), names}}
}

// ErrVoid says that a voucher did not count: what it named is over.
var ErrVoid = errors.New("the node lost its memory again, or another client changed its configuration: look again, and vouch again")

// ParseTrust reads the reply to trust.
func ParseTrust(r node.Reply) error {
	switch {
	case r.Err != nil:
		return r.Err
	case r.Value == "V":
		return ErrVoid
	case r.Value != "R":
		return unreadable(trustOp{}, r.Value).Err
	}
	return nil
}

// Served are the fields of [AdmissionKey] on a server that starts, was never locked on, and
// votes when it is first asked from until on, by its clock in microseconds. They are for
// whoever starts servers; the key's value is a hash.
func Served(run string, until int64) map[string]string {
	sum, id := sha1.Sum([]byte(run)), sha1.Sum([]byte("id "+run))
	return map[string]string{
		"run": run, "until": Micros(max(until, 1)), "evicted": "0", "why": MemoryNew.String(), "challenge": hex.EncodeToString(sum[:]),
		"id": hex.EncodeToString(id[:]),
	}
}

// never is until when a node does not vote whose quarantine has not begun.
const never = "9999999999999999"

// challengeLen is the length of a challenge, and of a mark.
const challengeLen = 2 * sha1.Size

// admitOp names admit in messages; it is not loaded, so it has no Op.
type admitOp struct{}

func (admitOp) String() string { return "admit" }

type trustOp struct{}

func (trustOp) String() string { return "trust" }

// OtherRun is the code of admit's error where it was made for another incarnation. No scripts follow an error.
const OtherRun = "OTHERRUN"

// ParseAdmit reads the reply to admit: Done (it votes), Challenged (ask again), Quarantined, OffClock,
// Misconfigured, Unfit, NotAdmitted (another incarnation than hello found) or Failed.
func ParseAdmit(c Config, r node.Reply) Answer {
	switch {
	case node.Code(r.Err) == OtherRun:
		return Answer{Verdict: NotAdmitted}
	case r.Err != nil:
		return Answer{Verdict: Failed, Err: r.Err}
	case r.Value == "":
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
	case 'C':
		if len(rest) != digits+challengeLen {
			return unreadable(admitOp{}, r.Value)
		}
		a.Verdict, a.Names = Challenged, rest[digits:]
		a.Time, err = parseMicros(rest[:digits])
	case 'Q':
		if len(rest) < 2*digits+challengeLen {
			return unreadable(admitOp{}, r.Value)
		}
		a.Verdict, a.Names = Quarantined, rest[2*digits:2*digits+challengeLen]
		a.Cause, a.Evidence = parseCause(rest[2*digits+challengeLen:], ofQuarantine)
		if a.Time, err = parseMicros(rest[:digits]); err == nil {
			a.Left, err = parseLeft(rest[digits : 2*digits])
		}
		// A hostile server must not shut itself out of the set for years.
		a.Left = min(a.Left, c.Quarantine())
	case 'M':
		if len(rest) < challengeLen {
			return unreadable(admitOp{}, r.Value)
		}
		a.Verdict, a.Cause, a.Names = Misconfigured, OtherSettings, rest[:challengeLen]
		a.Evidence = &Evidence{Value: rest[challengeLen:min(len(rest), challengeLen+mostOfConfig)]}
	case 'U':
		a.Verdict = Unfit
		a.Cause, a.Evidence = parseUnfit(rest)
	default:
		return unreadable(admitOp{}, r.Value)
	}
	if err != nil {
		return unreadable(admitOp{}, r.Value)
	}
	return a
}
