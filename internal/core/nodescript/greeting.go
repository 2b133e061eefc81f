package nodescript

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
)

// Hello is a node's answer to hello. It contains the incarnation and the clock of the node.
type Hello struct {
	Time    int64  // µs
	Run     string // the run id, which is new at every start of the server
	Version string // such as "Redis 7.0.15"
	ID      string // the id of the server; a restart that keeps the data keeps the id; "" before the first admission
	Lax     Cause  // why the server is less durable than its clients declare; NoCause: it is durable enough, or this is unknown
	Sync    string // the server's appendfsync, if Lax is SyncNotAlways
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
	h.Run, h.Version = strings.Clone(run[digits:]), printable.Text(version)
	if strings.ContainsFunc(h.Run, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return Hello{}, Unreadable(fmt.Sprintf("its run_id is %q, which no Redis or Valkey has", h.Run))
	}
	if id != "" {
		h.ID = CleanID(id)
	}
	return h, nil
}

// ErrNoScripts replaces the error of a Sentinel or a proxy that does not know EVAL. The original error quotes the
// whole script, which would hide the reason.
var ErrNoScripts error = &node.Error{Code: node.Generic, Message: "it knows no EVAL: a Sentinel, or a proxy, is no node; " +
	"give the address of a Redis or Valkey server itself"}

// noScripts returns ErrNoScripts if err says that the server does not know EVAL, otherwise err. Redis has no code for
// this error, so noScripts looks at its text.
func noScripts(err error) error {
	var e *node.Error
	if errors.As(err, &e) && strings.Contains(strings.ToLower(e.Message), "unknown command") && strings.Contains(strings.ToUpper(e.Message), "EVAL") {
		return ErrNoScripts
	}
	return err
}

// oldest is the first major version of Redis that does not write SCRIPT LOAD to its AOF and its replicas.
const oldest = 7

// Unfit returns the reason why the server cannot be a node, or [NoCause]. A Redis before version 7 loads its scripts
// and the guard from its AOF when it restarts. Clients would then not notice the restart, nor the locks that it lost.
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

// AdmitCall asks a node to vote. A majority of the nodes' clocks must confirm stamp. Otherwise a machine that boots
// with a wrong clock could measure its own quarantine with that clock. The node's clock may differ from stamp by the
// time within. This is a window at most, and less if stamp itself may be wrong by more than a window. challenge is the
// node's last challenge, or "". The caller must draw stamp after the node sent that challenge. nonce is random. A
// driver that follows the master appends what it knows about it: see [node.Call]. unused says that the client has found
// every node of its list unused, at one instant after it had challenge.
func AdmitCall(stamp int64, within time.Duration, challenge, nonce string, unused bool) node.Call {
	w, all := within.Microseconds(), ""
	if unused {
		all = "U"
	}
	return node.Call{Args: []string{Micros(stamp - w), Micros(stamp + w), challenge, nonce, all}, Epoch: true}
}

// VoucherKept is the time for which a node keeps a voucher that is not used.
const VoucherKept = time.Minute

// LoadCall returns a call of admit that only loads the scripts. Its window contains no clock, so it never admits the
// node. A driver loads scripts after an answer without an error. If the scripts are for the present incarnation, the
// answer is OffClock. Otherwise admit answers the error OtherRun, and the driver does not load the scripts.
func LoadCall() node.Call { return node.Call{Args: []string{Micros(0), Micros(0), "", "", ""}} }

// TrustCall stores an operator's voucher on a node. The next admit of a client with this configuration uses the
// voucher, and may then replace another configuration of the node. names is the challenge or mark in the refusal that
// the operator saw: Answer.Names. The voucher has no effect on any other refusal.
func TrustCall(c Config, names string) node.Call {
	return node.Call{Args: []string{millis(VoucherKept), c.String(), names}}
}

// ErrVoid means that a voucher had no effect. The challenge or mark that it names is out of date.
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

// Served returns the fields of the hash [AdmissionKey] for a new server on which nobody has had a lock. The server
// votes when a client asks it after the instant until, in µs of the server's clock. Package embedded and tests write
// these fields when they start a server.
func Served(run string, until int64) map[string]string {
	sum, id := sha1.Sum([]byte(run)), sha1.Sum([]byte("id "+run))
	return map[string]string{
		"run": run, "until": Micros(max(until, 1)), "evicted": "0", "why": MemoryNew.String(), "challenge": hex.EncodeToString(sum[:]),
		"id": hex.EncodeToString(id[:]), "since": Micros(max(until, 0)),
	}
}

// never is stored as the end of a quarantine that has not begun.
const never = "9999999999999999"

// challengeLen is the length of a challenge, and of a mark.
const challengeLen = 2 * sha1.Size

// admitOp names admit in error messages. Admit has no Op, because it is not one of the loaded scripts.
type admitOp struct{}

func (admitOp) String() string { return "admit" }

type trustOp struct{}

func (trustOp) String() string { return "trust" }

// OtherRun is the code of admit's error if the call was made for another incarnation. After an error, a driver loads
// no scripts.
const OtherRun = "OTHERRUN"

// ParseAdmit reads the answer to admit. Its verdict is one of: Done (the node votes; with the cause MemoryFull and Err
// it keeps leases and grants none), Challenged (ask again),
// Arrived, Quarantined, OffClock, Misconfigured, Unfit, NotAdmitted (the server restarted after hello), or Failed.
func ParseAdmit(c Config, r node.Reply) Answer {
	switch {
	case node.Code(r.Err) == OtherRun:
		return Answer{Verdict: NotAdmitted}
	case r.Err != nil:
		return Answer{Verdict: Failed, Err: r.Err, Cause: RefusedWrite(r.Err)}
	case r.Value == "":
		return unreadable(admitOp{}, r.Value)
	}
	var a Answer
	var err error
	rest := strings.Clone(r.Value[1:])
	switch r.Value[0] {
	case 'R':
		a.Verdict = Done
		if len(rest) > digits {
			if a.Err = node.ServerError(rest[digits:min(len(rest), digits+mostOfValue)]); node.Code(a.Err) != node.OOM {
				return unreadable(admitOp{}, r.Value)
			}
			rest, a.Cause = rest[:digits], MemoryFull
		}
		a.Time, err = parseMicros(rest)
	case 'O':
		a.Verdict = OffClock
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
		// This limit is for a hostile server. Without it, such a server could keep clients from asking again for
		// years.
		a.Left = min(a.Left, c.NamedQuarantine())
	case 'F':
		a, err = arrived(rest)
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
