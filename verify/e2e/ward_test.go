package e2e

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// ward is a server in whose database 1 users work, each with some rights. Or it is a Redis Cluster.
type ward struct {
	t         testing.TB
	server    *redistest.Server  // nil with a cluster
	cluster   *redistest.Cluster // nil without one
	user      string
	confirmed bool // a grant of a client counts only if a replica has it
}

// wardUser is the user whose rights change.
const wardUser = "user"

// newWard starts a server that votes for a client in its database 1.
func newWard(t testing.TB, opts ...redistest.Option) *ward {
	t.Helper()
	w := &ward{t: t, server: redistest.Start(t, opts...), user: wardUser}
	w.votes()
	return w
}

// votes makes the server vote at its first request, as [set.trust] does.
func (w *ward) votes() {
	w.t.Helper()
	s := &set{t: w.t, servers: []*redistest.Server{w.server}}
	s.trust()
	w.server.MustDo(w.t, "MOVE", nodescript.AdmissionKey, 1)
}

// grants replaces the rights of the user.
func (w *ward) grants(list []string) {
	w.t.Helper()
	rule := []any{"ACL", "SETUSER", w.user, "reset", "on", ">pw"}
	for _, right := range list {
		rule = append(rule, right)
	}
	for _, s := range w.servers() {
		s.MustDo(w.t, rule...)
		s.MustDo(w.t, "ACL", "LOG", "RESET")
	}
}

func (w *ward) servers() []*redistest.Server {
	if w.cluster != nil {
		return w.cluster.Servers()
	}
	return []*redistest.Server{w.server}
}

// refusals returns what the server refused to the user.
func (w *ward) refusals() []string {
	w.t.Helper()
	var all []string
	for _, s := range w.servers() {
		list, err := refused(s)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, list...)
	}
	return all
}

// in runs a command in database 1, or on the shard that has the first argument.
func (w *ward) in(command string, args ...any) any {
	w.t.Helper()
	if w.cluster != nil {
		return w.cluster.MasterOf(redistest.Slot(args[0].(string))).MustDo(w.t, append([]any{command}, args...)...)
	}
	list := []any{"EVAL", "redis.call('SELECT', 1) return redis.call(unpack(ARGV))", 0, command}
	return w.server.MustDo(w.t, append(list, args...)...)
}

// url returns the URL of the user.
func (w *ward) url() string {
	if w.cluster != nil {
		return "redis+cluster://" + w.user + ":pw@" + strings.Join(w.cluster.Addrs(), ",")
	}
	return "redis://" + w.user + ":pw@" + w.server.Addr() + "/1"
}

// client opens a client of the user with one of the drivers.
func (w *ward) client(goRedis bool, change ...func(*holdfast.Config)) *holdfast.Client {
	w.t.Helper()
	c := settings()
	for _, f := range change {
		f(&c)
	}
	var one node.Node
	var err error
	switch {
	case goRedis && w.cluster != nil:
		rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: w.cluster.Addrs(), Username: w.user, Password: "pw"})
		defer rdb.Close() // the cluster has clients of its own
		one, err = goredisnode.NewCluster(rdb)
	case w.cluster != nil:
		one, err = rueidisnode.NewCluster(w.url())
	case goRedis:
		rdb := redis.NewClient(&redis.Options{Addr: w.server.Addr(), Username: w.user, Password: "pw", DB: 1, MaxRetries: -1})
		w.t.Cleanup(func() { rdb.Close() })
		var options []goredisnode.Option
		if w.confirmed {
			options = append(options, goredisnode.Replicated(1, 0))
		}
		one, err = goredisnode.New(rdb, options...)
	default:
		url := w.url()
		if w.confirmed {
			url += "?replicated=true&wait=1"
		}
		one, err = rueidisnode.New(url)
	}
	c.Nodes = []node.Node{one}
	if err != nil {
		w.t.Fatal(err)
	}
	client, err := holdfast.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { client.Close() })
	return client
}
