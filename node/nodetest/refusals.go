package nodetest

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// refused makes a call that the server must refuse with this code. A refusal is an answer: it shows that the call was
// not executed.
func (s suite) refused(t *testing.T, n node.Node, c node.Call, code string) {
	t.Helper()
	r := one(t, n, c)
	wantCode(t, code, r.Err, code)
	if !node.Unsent(r.Err) {
		t.Errorf("%v: counts as possibly executed", r.Err)
	}
}

func (s suite) noScript(t *testing.T) {
	_, n := s.start(t)
	load(t, n, echo)
	r := batch(t, within(t, patience), n, call(echo, "a"), call(`return 'unknown'`), call(echo, "b"))
	wantCode(t, "unknown script", r[1].Err, node.NoScript)
	if r[0].Value != "a" || r[2].Value != "b" {
		t.Errorf("its neighbours are %v and %v", r[0], r[2])
	}
	if r := one(t, n, call(`return 'unknown'`)); node.Code(r.Err) != node.NoScript {
		t.Errorf("the script was sent as text: %v", r)
	}
}

func (s suite) readOnly(t *testing.T) {
	master, replica := redistest.Start(t, redistest.Args("--repl-diskless-sync-delay", "0")), redistest.Start(t)
	replica.MustDo(t, "REPLICAOF", "127.0.0.1", master.Port())
	redistest.Eventually(t, patience, "the replica follows", func() bool {
		return strings.Contains(replica.MustDo(t, "INFO", "replication").(string), "master_link_status:up")
	})
	n := s.node(t, replica.URL())
	load(t, n, count)
	s.refused(t, n, call(count), node.ReadOnly)
}

func (s suite) loading(t *testing.T) {
	// The server pauses after each key that it loads, and answers commands in these pauses.
	server, n := s.start(t, redistest.Args("--key-load-delay", "500", "--loading-process-events-interval-bytes", "1024"))
	server.MustDo(t, "EVAL", `for i = 1, 20000 do redis.call('SET', i, i) end`, 0)
	server.MustDo(t, "SAVE")
	server.RestartLoading()
	s.refused(t, n, call(count), node.Loading)
	r := n.Eval(within(t, patience), count, call(count), echo)
	wantCode(t, "with a load", r.Err, node.Loading)
}

func (s suite) oom(t *testing.T) {
	server, n := s.start(t)
	load(t, n, count)
	server.MustDo(t, "CONFIG", "SET", "maxmemory", "1")
	s.refused(t, n, call(count), node.OOM)
	server.MustDo(t, "CONFIG", "SET", "maxmemory", "0")
	if r := one(t, n, call(count)); r.Value != "1" {
		t.Errorf("with memory again: %v", r)
	}
}

func (s suite) noPerm(t *testing.T) {
	server := redistest.Start(t)
	const rights = "+hello +ping +select +client|setname +eval +script|load"
	for user, extra := range map[string]string{
		"command": "~*",                       // no right to use EVALSHA
		"key":     "~allowed* +evalsha +@all", // no right to this key
		"inside":  "~* +evalsha -incr",        // no right to the command inside the script
	} {
		args := []any{"ACL", "SETUSER", user, "on", ">pw"}
		for _, rule := range strings.Fields(rights + " " + extra) {
			args = append(args, rule)
		}
		server.MustDo(t, args...)
		server.MustDo(t, "SCRIPT", "LOAD", count)
		n := s.node(t, strings.Replace(server.URL(), "://", "://"+user+":pw@", 1))
		t.Run(user, func(t *testing.T) { s.refused(t, n, call(count), node.NoPerm) })
	}
	// This script uses a key that the call does not declare.
	const undeclared = `return redis.call('GET', 'secret')`
	server.MustDo(t, "SCRIPT", "LOAD", undeclared)
	n := s.node(t, strings.Replace(server.URL(), "://", "://key:pw@", 1))
	s.refused(t, n, node.Call{SHA: sha(undeclared)}, node.NoPerm)
}

func (s suite) wrongType(t *testing.T) {
	server, n := s.start(t)
	load(t, n, count)
	server.MustDo(t, "LPUSH", "k", "v")
	s.refused(t, n, call(count), node.WrongType)
}

func (s suite) busy(t *testing.T) {
	server, n := s.start(t, redistest.Args("--lua-time-limit", "20"))
	load(t, n, count)
	end := make(chan struct{})
	go func() {
		defer close(end)
		_, _ = server.Do("EVAL", "while true do end", 0)
	}()
	redistest.Eventually(t, patience, "the server is busy", func() bool {
		_, err := server.Do("PING")
		return err != nil
	})
	s.refused(t, n, call(count), node.Busy)
	r := n.Eval(within(t, patience), count, call(count), echo)
	wantCode(t, "with a load", r.Err, node.Busy)
	server.MustDo(t, "SCRIPT", "KILL")
	<-end
	if r := one(t, n, call(count)); r.Value != "1" {
		t.Errorf("afterwards: %v", r)
	}
}

func (s suite) passwordIsChecked(t *testing.T) {
	server := redistest.Start(t, redistest.Password("p%ss/w@rd"))
	server.MustDo(t, "ACL", "SETUSER", "alice", "on", ">wonder", "~*", "&*", "+@all")
	server.MustDo(t, "SCRIPT", "LOAD", echo)
	for userinfo, code := range map[string]string{
		"":                         node.NoAuth,
		":wrong@":                  node.WrongPass,
		"alice:wrong@":             node.WrongPass,
		"bob:wonder@":              node.WrongPass,
		":p%25ss%2Fw%40rd@":        "",
		"alice:wonder@":            "",
		"default:p%25ss%2Fw%40rd@": "",
	} {
		r := one(t, s.node(t, strings.Replace(server.URL(), "://", "://"+userinfo, 1)), call(echo, "in"))
		wantCode(t, userinfo, r.Err, code)
		if (r.Value == "in") != (code == "") {
			t.Errorf("%s: %v", userinfo, r)
		}
		if r.Err != nil && !node.Unsent(r.Err) {
			t.Errorf("%s: counts as possibly executed", userinfo)
		}
	}
}

func (s suite) unknownDatabaseIsRefused(t *testing.T) {
	server := redistest.Start(t)
	server.MustDo(t, "SCRIPT", "LOAD", count)
	s.refused(t, s.node(t, server.URL()+"/99"), call(count), node.Generic)
}
