package driver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// Masters follows the masters behind the address of a node that is declared replicated. It is safe for concurrent use.
type Masters struct {
	above context.Context

	mu      sync.Mutex
	reign   *Reign
	changed state
	last    met // the master that was met last
	former  met // the one before it
}

// met is a master that a connection led to.
type met struct {
	run   string        // "": none
	since clock.Instant // when it was first met
}

// state is the state of EvalSHA in a reign.
type state uint8

const (
	open    state = iota
	closed        // the reign is new: no EvalSHA was refused yet
	refused       // an EvalSHA was refused, so the caller greets the node by Eval
)

// Reign is the time of one master. Each connection belongs to the reign in which its dial began.
type Reign struct {
	// Context ends with the reign, and then every connection of the reign ends.
	Context context.Context
	end     context.CancelFunc
	master  string // identifies the master and its data; "" before the first connection
	named   Named  // what Sentinel said; its Addr is "" without Sentinel
}

// ErrChanged is the error of a connection that leads to another master than the connections before.
var ErrChanged = errors.New("another master took over behind this address")

// errNoMaster is the error of a connection that leads to a replica.
var errNoMaster = &node.Error{Code: node.ReadOnly, Message: "READONLY a replica is behind this address now; it votes when it or another server is promoted"}

// NewMasters returns the masters of a node. Every reign ends with above.
func NewMasters(above context.Context) *Masters {
	m := &Masters{above: above}
	m.begin("", Named{})
	m.changed = open // the first master is met like any other node
	return m
}

// begin ends the present reign and begins another. The caller holds m.mu, except in NewMasters.
func (m *Masters) begin(master string, named Named) {
	if m.reign != nil {
		m.reign.end()
	}
	ctx, end := context.WithCancel(m.above)
	m.reign, m.changed = &Reign{Context: ctx, end: end, master: master, named: named}, closed
}

// Now returns the present reign.
func (m *Masters) Now() *Reign {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reign
}

// Met examines the answers to INFO server and INFO replication on a connection of a reign. After an error the
// connection must not be used. If another master answered, another reign begins.
func (m *Masters) Met(r *Reign, info string) error {
	master, role := identity(info)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case r != m.reign:
		return node.NotSent(ErrChanged)
	case role != "master" && role != "":
		m.begin("", Named{})
		return errNoMaster
	}
	if run := InfoField(info, "run_id"); run != m.last.run {
		m.former, m.last = m.last, met{run, steady()}
	}
	switch {
	case r.master == "":
		r.master = master
	case r.master != master:
		m.begin(master, r.named)
		return node.NotSent(ErrChanged)
	}
	return nil
}

// identity returns a text that differs for each server, each restart and each copy of another server's data. A first
// replica changes the replication id of a master, too, but then the second id is zero.
func identity(info string) (master, role string) {
	master = InfoField(info, "run_id")
	if strings.Trim(InfoField(info, "master_replid2"), "0") != "" {
		master += " " + InfoField(info, "master_replid")
	}
	return master, InfoField(info, "role")
}

// InfoField returns a field of an answer to INFO, "" if it is missing.
func InfoField(info, name string) string {
	_, rest, found := strings.Cut("\n"+info, "\n"+name+":")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimRight(value, "\r")
}

// InfoError returns [node.ErrNoInfo] if err says that the server knows no INFO, else err.
func InfoError(err error) error {
	var e *node.Error
	if errors.As(err, &e) && e.Code == node.Generic && strings.Contains(strings.ToLower(e.Message), "unknown command") {
		return node.ErrNoInfo
	}
	return err
}

// At handles the master that Sentinel named. If its address or its epoch has changed, another reign begins: in a later
// epoch, another server may have been the master in between. At returns the present reign.
func (m *Masters) At(named Named) *Reign {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r := m.reign; {
	case r.named.Addr == "":
		r.named = named
	case r.named.Addr != named.Addr || r.named.Epoch != named.Epoch:
		m.begin("", named)
	default:
		r.named.Firm, r.named.Asked = named.Firm, max(r.named.Asked, named.Asked)
	}
	return m.reign
}

// Stands reports whether a reign has not ended, and whether Sentinel confirmed its master within [node.NamedFor].
// Without Sentinel it must not be called.
func (m *Masters) Stands(r *Reign) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return r == m.reign && steady().Sub(r.named.Asked) <= node.NamedFor
}

// Epoch returns the arguments that a call with [node.Call.Epoch] gets on a connection of reign r.
func (m *Masters) Epoch(r *Reign) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	args := []string{r.named.Epoch, "", "", ""}
	if r.named.Firm {
		args[1] = "F"
	}
	if m.former.run != "" {
		args[2] = fmt.Sprintf("%016d", steady().Sub(m.former.since).Microseconds())
		args[3] = m.former.run
	}
	return args
}

// Ended ends a reign, because its master answered that it is a replica now. It does nothing if the reign has ended.
func (m *Masters) Ended(r *Reign) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r == m.reign {
		m.begin("", Named{})
	}
}

// Begun returns the present reign for an EvalSHA that begins now, or nil if its master was not met yet.
func (m *Masters) Begun() *Reign {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changed != open {
		return nil
	}
	return m.reign
}

// Admits reports whether an EvalSHA may be sent on a connection of reign r. begun is the result of [Masters.Begun]
// before the call waited for the connection: if somebody met the master during that wait, the caller has not learned of
// it yet. If Admits returns false, the replies are [NotMet].
func (m *Masters) Admits(r, begun *Reign) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r != m.reign {
		return false
	}
	if m.changed != open {
		m.changed = refused
		return false
	}
	return begun == r
}

// Refused reports whether the next answer to an Eval on a connection of reign r is a greeting. An Eval that began
// before a caller of EvalSHA learned of the new master is no greeting.
func (m *Masters) Refused(r *Reign) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return r == m.reign && m.changed == refused
}

// Greeted notes the answer to an Eval that was a greeting.
func (m *Masters) Greeted(r *Reign) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r == m.reign && m.changed == refused {
		m.changed = open
	}
}

// NotMet is the reply to an EvalSHA before the caller has met the present master. No server got the call.
var NotMet = node.Reply{Err: &node.Error{Code: node.NoScript, Message: "NOSCRIPT " + ErrChanged.Error()}}

// Behind reports whether a reply says that its server is a replica.
func Behind(r node.Reply) bool {
	switch node.Code(r.Err) {
	case node.ReadOnly, node.MasterDown:
		return true
	}
	return false
}
