package e2e

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// ward is a server in whose database 1 users work, each with some rights.
type ward struct {
	t         testing.TB
	server    *redistest.Server
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
	w.server.MustDo(w.t, rule...)
	w.server.MustDo(w.t, "ACL", "LOG", "RESET")
}

// refusals returns what the server refused to the user.
func (w *ward) refusals() []string {
	w.t.Helper()
	list, err := refused(w.server)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// in runs a command in database 1.
func (w *ward) in(command string, args ...any) any {
	w.t.Helper()
	list := []any{"EVAL", "redis.call('SELECT', 1) return redis.call(unpack(ARGV))", 0, command}
	return w.server.MustDo(w.t, append(list, args...)...)
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
	if goRedis {
		rdb := redis.NewClient(&redis.Options{Addr: w.server.Addr(), Username: w.user, Password: "pw", DB: 1, MaxRetries: -1})
		w.t.Cleanup(func() { rdb.Close() })
		var options []goredisnode.Option
		if w.confirmed {
			options = append(options, goredisnode.Replicated(1, 0))
		}
		one, err = goredisnode.New(rdb, options...)
	} else {
		url := "redis://" + w.user + ":pw@" + w.server.Addr() + "/1"
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
