package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/rights"
	"github.com/holdfast-go/holdfast/node"
)

// Severity says how bad a finding is.
type Severity uint8

// These are the severities.
const (
	OK   Severity = iota
	Note          // useful to know, but nothing is wrong
	Warn          // locks work, but something may slow them down or break them
	Bad           // the node or the set does not work now, or a promise does not hold
)

var severities = [...]string{"ok", "note", "warn", "bad"}

// String returns the severity as a code, which never changes.
func (s Severity) String() string { return severities[s] }

// Finding is the result of a check of a node or of the whole set.
type Finding struct {
	Check    string
	Node     string // the address of the node without password; "": the whole set
	Severity Severity
	State    string // in words
	Fix      string // the command to type, or an advice; "" if there is none

	// Cause is the check that has the cause of this finding and its fix; "" if it is none. Findings does not contain such
	// a finding.
	Cause string
}

// Findings returns the findings that are worse than OK, the worst first, without those whose cause another one has.
func Findings(all []Finding) (worse []Finding) {
	bad := map[string]bool{} // by check and node
	for _, f := range all {
		if f.Severity >= Warn {
			bad[f.Check+" "+f.Node] = true
		}
	}
	for _, f := range all {
		if f.Severity > OK && (f.Cause == "" || !bad[f.Cause+" "+f.Node]) {
			worse = append(worse, f)
		}
	}
	slices.SortStableFunc(worse, func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	return worse
}

// Checks contains the names of all checks, in their order.
var Checks = []string{
	"answer", "address", "round-trip", "version", "role", "replication", "persistence", "memory", "evictions", "latency", "clock", "drift",
	"cluster", "moves", "members", "hosts", "count", "protocol", "settings", "votes", "tls", "acl", "default-user", "foreign",
	"corrupt", "kinds", "stuck", "leaders", "jobs",
}

// Config says what to examine, and how.
type Config struct {
	Client    *holdfast.Client
	URLs      []string    // the URLs of the nodes, in the order of Nodes
	Nodes     []node.Node // the nodes with the user of the URLs; they implement node.Commander and node.Configured
	Anonymous []node.Node // the same servers without user and password; nil for a server whose URL has none

	// Cluster is the Redis Cluster with the only URL, or nil. Examine then finds its servers, and makes a node for each of
	// them with Open, and one without user and password with Guest. Nodes and Anonymous are not used.
	Cluster     node.Cluster
	Open, Guest func(url string) (node.Node, error)

	MaxTTL    time.Duration
	Window    time.Duration
	Durable   bool
	OlderThan time.Duration // a lock that is held for longer counts as stuck
	Rate      int           // the number of requests per second and node; 0: the default of the list of locks
	Only      []string      // the names of the checks to run; nil: all
	Role      rights.Role   // the roles whose rights the user needs; 0: Locker, but a user that is only an Operator is a Note
}

// patience limits each question to a server.
const patience = 5 * time.Second

// exam is one run of all checks.
type exam struct {
	Config
	ahead time.Duration // how far the clock of the middle node is ahead of this machine's

	topology *node.Topology     // of a Redis Cluster; nil: there is none, or it is not known
	lost     error              // why the topology of a cluster is not known
	servers  map[string]*server // the servers of a cluster, by address
	patients []*patient
	reigns   []*reign // the elections to watch

	mu       sync.Mutex
	findings []Finding
}

// Examine runs the checks, and returns the findings in the order of the checks and nodes. Each check has at least one
// finding. It asks the nodes for their votes, as holdfast nodes does, and changes nothing else. It does not ask a node
// that was never used, because such a node would keep the settings of the client. This does not hold for a Redis Cluster.
func Examine(ctx context.Context, c Config) []Finding {
	e := &exam{Config: c}
	if c.Cluster == nil {
		spareUnused(ctx, c.Client)
	} else {
		defer e.expand(ctx)()
		c = e.Config
	}
	patients := make([]*patient, len(c.Nodes))
	var wait sync.WaitGroup
	for i, n := range c.Nodes {
		patients[i] = &patient{exam: e, node: n, url: c.URLs[i]}
		if e.servers != nil {
			patients[i].server = e.servers[hostPort(n)]
		}
		wait.Go(func() { patients[i].examine(ctx) })
	}
	wait.Wait()
	e.patients = patients
	e.set(ctx, patients)
	e.locks(ctx)
	e.jobs(ctx)
	e.blanks()
	order := map[string]int{}
	for i, n := range c.Nodes {
		order[n.Addr()] = i + 1
	}
	slices.SortStableFunc(e.findings, func(a, b Finding) int {
		if d := slices.Index(Checks, a.Check) - slices.Index(Checks, b.Check); d != 0 {
			return d
		}
		return order[a.Node] - order[b.Node]
	})
	return e.findings
}

// blanks adds a finding to each check that could examine nothing.
func (e *exam) blanks() {
	for _, check := range Checks {
		if !slices.ContainsFunc(e.findings, func(f Finding) bool { return f.Check == check }) {
			e.find(check, "", Note, "not known: no node could be examined", "see the checks answer and votes")
		}
	}
}

// wants reports whether a check must run.
func (e *exam) wants(check string) bool { return len(e.Only) == 0 || slices.Contains(e.Only, check) }

// find adds a finding, if its check must run.
func (e *exam) find(check, node string, s Severity, state, fix string) {
	if !e.wants(check) {
		return
	}
	if s == OK {
		fix = ""
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	cause := ""
	if c, is := strings.CutPrefix(fix, "see the check "); is && slices.Contains(Checks, c) {
		cause = c
	}
	e.findings = append(e.findings, Finding{check, node, s, state, fix, cause})
}

// Worst returns the highest severity of the findings.
func Worst(all []Finding) (s Severity) {
	for _, f := range all {
		s = max(s, f.Severity)
	}
	return s
}
