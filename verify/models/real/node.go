package real

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// Window is the W of the node.
const Window = 250 * time.Millisecond

// Epoch is the first instant of the models, in microseconds.
const Epoch = 1_800_000_000_000_000

// Ticket is the ticket of the first waiter.
const Ticket = Epoch - 1000

// Lock is the lock of all calls.
var Lock = nodescript.Lock{Name: "x", Private: true}

// Node is one voting node with a record that a test can set.
type Node struct {
	node    *nodemodel.Node
	scripts *nodescript.Scripts
	config  nodescript.Config
	now     int64
}

// NewNode returns one node of a set of three.
func NewNode(t *testing.T, maxTTL time.Duration) *Node {
	t.Helper()
	config := nodescript.Config{N: 3, MaxTTL: maxTTL, Window: Window, Cluster: "models"}
	n := &Node{now: Epoch, config: config, scripts: nodescript.NewScripts(config, "run")}
	n.node = nodemodel.New("node", func() int64 { return n.now }, nodemodel.Info{Run: "run", Role: "master", Policy: "noeviction"}, config)
	n.Admit(t, n.now, n.now, "")
	n.node.Subscribe(nodescript.Inbox(nodescript.ClientOf(Owner(0))), func(string) {})
	n.node.Set(nodescript.GuardKey, config.String()+" run", 1000*time.Hour)
	return n
}

// Reader returns the owner of a reader with this number.
func Reader(number int) string { return nodescript.ReaderOwner(Owner(number)) }

// Owner returns the owner with this number in a model, in the form of the scripts. It is longer than a ticket.
func Owner(number int) string { return "model~client~owner number " + string(rune('0'+number)) }

// Run runs a call on a record at an instant of the node's clock, while others wait in a queue, in this order, and
// listen. It returns the first letter of the answer and the new record. The zero Record means no record. Models have no
// queue, so the record's flag for waiters is ignored.
func (n *Node) Run(t *testing.T, now int64, was nodescript.Record, c nodescript.Call, waiting ...string) (answer string, is nodescript.Record) {
	t.Helper()
	n.now = now
	key := nodescript.RecordKey(Lock.Name)
	n.node.Del(key)
	n.node.Del(nodescript.QueueKey(key))
	for i, w := range waiting {
		if err := n.node.ZAdd(nodescript.QueueKey(key), Ticket+int64(i), w); err != nil {
			t.Fatal(err)
		}
	}
	if was != (nodescript.Record{}) {
		was.Waiting = len(waiting) > 0
		n.node.Set(key, was.String(), time.Hour)
	}
	said := n.node.EvalSHA(context.Background(), []node.Call{{SHA: n.scripts.SHA(c.Op), Keys: c.Keys, Args: c.Args}})[0]
	if said.Err != nil {
		t.Fatal(said.Err)
	}
	view, err := nodescript.ParseView(n.node.Eval(context.Background(), nodescript.InspectText(), nodescript.InspectCall(Lock)))
	if err != nil {
		t.Fatal(err)
	}
	view.Record.Waiting = false
	return said.Value[:1], view.Record
}

// RunShared is Run for a name with readers, and without waiters. It also returns the readers, expired ones too. Expired
// claims are left out: no script can tell them from nothing.
func (n *Node) RunShared(t *testing.T, now int64, was nodescript.Record, readers nodescript.Readers, c nodescript.Call) (answer string, is nodescript.Record, are nodescript.Readers) {
	t.Helper()
	hash := nodescript.ReadersKey(nodescript.RecordKey(Lock.Name))
	n.node.Del(hash)
	if was.Shared {
		n.node.HSet(hash, "seen", nodescript.Micros(readers.Seen)+nodescript.Micros(readers.Leased))
		for _, r := range readers.List {
			n.node.HSet(hash, r.Owner, nodescript.Micros(r.Token)+nodescript.Micros(r.Expiry))
		}
	}
	answer, is = n.Run(t, now, was, c)
	n.now = 1 // before every expiry
	view, err := nodescript.ParseView(n.node.Eval(context.Background(), nodescript.InspectText(), nodescript.InspectCall(Lock)))
	if err != nil {
		t.Fatal(err)
	}
	are = view.Readers
	are.List = slices.DeleteFunc(are.List, func(r nodescript.Reader) bool { return r.Token == 0 && r.Expiry <= now })
	return answer, is, are
}

// Admit asks the node to vote, with a challenge that it answered or without one. It returns the first letter of the
// answer, the remaining quarantine, and the challenge in the answer.
func (n *Node) Admit(t *testing.T, now, stamp int64, with string) (answer string, left time.Duration, challenge string) {
	t.Helper()
	n.now = now
	call := nodescript.AdmitCall(stamp, n.config.Window, with, "", false)
	r := n.node.Eval(context.Background(), n.scripts.Admit, call, n.scripts.Load()...)
	a := nodescript.ParseAdmit(n.config, r)
	if r.Err != nil || a.Err != nil {
		t.Fatal(r.Err, a.Err)
	}
	return r.Value[:1], a.Left, a.Names
}

// Trust stores a voucher for the challenge in names. It reports whether the voucher is valid.
func (n *Node) Trust(t *testing.T, now int64, names string) bool {
	t.Helper()
	n.now = now
	err := nodescript.ParseTrust(n.node.Eval(context.Background(), nodescript.TrustText(), nodescript.TrustCall(n.config, names)))
	if err != nil && !errors.Is(err, nodescript.ErrVoid) {
		t.Fatal(err)
	}
	return err == nil
}

// Forget does FLUSHALL: the node has lost its memory, and no client knows it yet.
func (n *Node) Forget() { n.node.FlushAll() }
