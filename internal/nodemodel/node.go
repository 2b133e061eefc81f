package nodemodel

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Info contains the values of a server's INFO that the rules of a node need.
type Info struct {
	Run             string // run id
	Role            string // master or slave
	Cluster         bool   // Redis Cluster mode
	MaxMemory       int64  // bytes; 0 = unlimited
	Policy          string // maxmemory-policy
	Evicted         int64  // evicted_keys
	ReplID, ReplID2 string // replication ids; the second is zeros or empty if never promoted
	Followed        bool   // this process was a replica: total_net_repl_input_bytes is not 0
	AOF             bool   // aof_enabled
	Booted          int64  // s since the epoch, by its clock at that time: uptime_in_seconds counts from it
	Ran             bool   // this process has counted an EVALSHA, a CONFIG SET, a CONFIG RESETSTAT or a FLUSHALL
	Version         string // such as "Redis 7.0.15"
}

// Node is one node. A test may change the fields between calls. Calls may come from several goroutines.
type Node struct {
	Clock func() int64 // µs since the epoch
	Info  Info
	Full  bool // maxmemory is reached

	// Challenge returns a value that it never returned before. The scripts compute theirs from counters of INFO.
	Challenge func() string

	addr    string
	configs []nodescript.Config

	mu        sync.Mutex
	keys      map[string]*value
	loaded    map[string]script // by digest
	runs      []string          // every run id so far
	made      map[made]*nodescript.Scripts
	forces    map[string]string // texts by which an operator ends a lease
	listeners []*listener
	news      []func() // published by the present call
	closed    bool
}

// script is one of the scripts, for one configuration and incarnation.
type script struct {
	op     nodescript.Op
	config nodescript.Config
	run    string
	guard  string // the value that it expects at GuardKey
	inside bool   // GuardKey had this value
}

// made is the configuration and incarnation of scripts.
type made struct {
	config nodescript.Config
	run    string
}

func (n *Node) scripts(config nodescript.Config, run string) *nodescript.Scripts {
	s := n.made[made{config, run}]
	if s == nil {
		s = nodescript.NewScripts(config, run)
		n.made[made{config, run}] = s
	}
	return s
}

// New returns an empty node that knows the scripts of these configurations.
func New(addr string, clock func() int64, info Info, configs ...nodescript.Config) *Node {
	n := &Node{Clock: clock, Info: info, addr: addr, configs: configs}
	challenges := 0
	n.Challenge = func() string { challenges++; return fmt.Sprintf("%040x", challenges) }
	n.forget()
	n.runs, n.made, n.forces = []string{info.Run}, map[made]*nodescript.Scripts{}, map[string]string{}
	return n
}

func (n *Node) forget() {
	n.keys, n.loaded = map[string]*value{}, map[string]script{}
}

var _ node.Node = (*Node)(nil)

// Addr implements [node.Node].
func (n *Node) Addr() string { return n.addr }

// EvalSHA implements [node.Node].
func (n *Node) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	replies := make([]node.Reply, len(calls))
	for i, c := range calls {
		if err := ctx.Err(); err != nil {
			replies[i].Err = node.NotSent(err)
			continue
		}
		replies[i] = n.run(func() (string, error) {
			n.Info.Ran = true
			s, ok := n.loaded[c.SHA]
			if !ok {
				return "", noScript
			}
			return n.calls(s, c)
		})
	}
	return replies
}

// Eval implements [node.Node]. It knows the texts of hello, inspect, peers, trust, admit and force. A node whose memory
// is full refuses only trust. It loads the scripts in load directly after the answer. Use [Node.Load] if time passes in
// between.
func (n *Node) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if err := ctx.Err(); err != nil {
		return node.Reply{Err: node.NotSent(err)}
	}
	r := n.run(func() (answer string, err error) {
		switch text {
		case nodescript.HelloText():
			return n.hello(), nil
		case nodescript.InspectText():
			return n.inspect(c)
		case nodescript.PeekText():
			return n.peek(c)
		case nodescript.TrustText():
			return n.trust(c)
		case nodescript.PeersText():
			return n.peers(c)
		}
		for _, config := range n.configs {
			for _, run := range n.runs {
				if n.scripts(config, run).Admit == text {
					return n.admit(config, run, c)
				}
			}
		}
		if s, ok := n.forcing(text); ok {
			defer func(full bool) { n.Full = full }(n.Full) // see wrote
			return n.force(s, c)
		}
		return "", unknown
	})
	if r.Err == nil && len(load) > 0 {
		if err := n.Load(ctx, load...); err != nil {
			return node.Reply{Err: err}
		}
	}
	return r
}

// Load loads scripts into the node. The node accepts only the complete scripts of one configuration, in one call.
func (n *Node) Load(ctx context.Context, load ...string) error {
	if err := ctx.Err(); err != nil {
		return node.NotSent(err)
	}
	return n.run(func() (string, error) {
		for _, config := range n.configs {
			for _, run := range n.runs {
				if s := n.scripts(config, run); slices.Equal(load, s.Load()) {
					n.load(config, s)
					return "", nil
				}
			}
		}
		return "", nil
	}).Err
}

var unknown = node.ServerError("ERR this model knows only its own configurations' scripts")

func (n *Node) load(config nodescript.Config, s *nodescript.Scripts) {
	guard := config.String() + " " + s.Run
	for op := range nodescript.Op(len(s.Load())) {
		n.loaded[s.SHA(op)] = script{op: op, config: config, run: s.Run, guard: guard}
	}
}

// Close implements [node.Node].
func (n *Node) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.disconnect()
}

// run runs one command at one instant. Listeners hear its messages right after it.
func (n *Node) run(f func() (string, error)) node.Reply {
	r, news := n.locked(f)
	for _, tell := range news {
		tell()
	}
	return r
}

func (n *Node) locked(f func() (string, error)) (r node.Reply, news []func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return node.Reply{Err: node.ErrClosed}, nil
	}
	n.sweep()
	r.Value, r.Err = f()
	news, n.news = n.news, nil
	return r, news
}

// calls runs a call, or each of several calls that travel as one.
func (n *Node) calls(s script, c node.Call) (string, error) {
	defer func(full bool) { n.Full = full }(n.Full) // see wrote
	each, err := nodescript.Apart(s.op, c)
	if err != nil {
		return "", node.ServerError("ERR " + err.Error())
	}
	if len(each) == 1 {
		return n.call(s, c)
	}
	if !s.op.HandsOn() { // a release needs no guard
		if answer, err := n.guarded(s); answer != "" || err != nil {
			return answer, err
		}
		s.inside = true // for all calls
	}
	parts := make([]string, len(each))
	for i, one := range each {
		answer, err := n.call(s, node.Call{Keys: one.Keys, Args: one.Args})
		parts[i] = nodescript.Part(answer, err)
	}
	return nodescript.Join(parts), nil
}

func (n *Node) call(s script, c node.Call) (string, error) {
	switch s.op {
	case nodescript.AcquireShared:
		return n.acquireShared(s, c)
	case nodescript.ReleaseShared:
		return n.releaseShared(s, c)
	case nodescript.ExtendShared:
		return n.extendShared(s, c)
	case nodescript.LeaveShared:
		return n.leaveShared(s, c)
	case nodescript.Acquire:
		return n.acquire(s, c)
	case nodescript.Release:
		return n.release(s, c)
	case nodescript.Extend:
		return n.extend(s, c)
	case nodescript.Leave:
		return n.leave(s, c)
	case nodescript.Quit:
		return n.leaveQueue(c)
	case nodescript.AcquireSlot:
		return n.acquireSlot(s, c)
	case nodescript.ReleaseSlot:
		return n.releaseSlot(s, c)
	case nodescript.LoadValue:
		return n.loadValue(s, c)
	case nodescript.StoreValue:
		return n.storeValue(s, c)
	default:
		return n.refresh(s, c)
	}
}

// now returns the clock as answers print it: always sixteen digits.
func (n *Node) now() int64 {
	if now := n.Clock(); now < 1e16 {
		return now
	}
	return 9e15
}

// number reads a number of a call. Calls come from package nodescript, so it is always valid.
func number(s string) int64 {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic("nodemodel: call with " + strconv.Quote(s) + " for a number")
	}
	return v
}

func head(s string, most int) string { return strings.Clone(s[:min(len(s), most)]) }
