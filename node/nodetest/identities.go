package nodetest

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// identityIsProven asks where new connections lead, with every kind of login.
func (s suite) identityIsProven(t *testing.T) {
	server := redistest.Start(t, redistest.Password("p%ss/w@rd"))
	server.MustDo(t, "ACL", "SETUSER", "alice", "on", ">wonder", "~*", "&*", "+@all")
	server.MustDo(t, "ACL", "SETUSER", "mute", "on", ">wonder", "~*", "&*", "+@all", "-info")
	run := runOf(t, server)
	for userinfo, want := range map[string]struct{ code, run string }{
		"":                  {node.NoAuth, ""},
		":wrong@":           {node.WrongPass, ""},
		"alice:wrong@":      {node.WrongPass, ""},
		":p%25ss%2Fw%40rd@": {"", run},
		"alice:wonder@":     {"", run},
		"mute:wonder@":      {"", ""},
	} {
		n, is := s.node(t, strings.Replace(server.URL(), "://", "://"+userinfo, 1)).(node.Identified)
		if !is {
			t.Fatalf("%T is no node.Identified", n)
		}
		for dials := 1; dials <= 2; dials++ {
			id, err := n.Identify(within(t, patience))
			wantCode(t, userinfo, err, want.code)
			if id.Run != want.run || id.Age != 0 {
				t.Errorf("%s: %+v; want the run id %q", userinfo, id, want.run)
			}
			switch met := n.Met(); {
			case met.Run != want.run:
				t.Errorf("%s: met %+v; want the run id %q", userinfo, met, want.run)
			case want.run != "" && (met.Age <= 0 || met.Age > patience || met.Dials != dials):
				t.Errorf("%s: met %+v; want %d dials, the last one a moment ago", userinfo, met, dials)
			}
		}
	}
}

func runOf(t *testing.T, s *redistest.Server) string {
	_, run, _ := strings.Cut(s.MustDo(t, "INFO", "server").(string), "run_id:")
	run, _, _ = strings.Cut(run, "\r")
	return run
}

// localServerIsKnown asks whether servers run on this machine. The connections to them have no proxy, except one. A
// server whose clock was wrong at its start seems to be older than its process.
func (s suite) localServerIsKnown(t *testing.T) {
	plain, safe, old := redistest.Start(t), redistest.Start(t, redistest.Password("p%ss/w@rd")), redistest.Start(t, redistest.WithClock())
	mute := redistest.Start(t, redistest.Without("CLIENT"))
	old.Step(time.Minute)
	login := func(userinfo string) string { return strings.Replace(safe.URL(), "://", "://"+userinfo, 1) }
	for what, c := range map[string]struct{ url, run string }{
		"direct":                   {plain.URL(), runOf(t, plain)},
		"by name":                  {strings.Replace(plain.URL(), "127.0.0.1", "localhost", 1), ""},
		"with a password":          {login(":p%25ss%2Fw%40rd@"), runOf(t, safe)},
		"with a wrong password":    {login(":wrong@"), ""},
		"through a proxy":          {redistest.NewProxy(t, plain.Addr()).URL(), ""},
		"older than its process":   {old.URL(), ""},
		"it says nothing about us": {mute.URL(), ""},
		"nobody there":             {"redis://127.0.0.1:1", ""},
	} {
		n, is := s.node(t, c.url).(node.Local)
		if !is {
			t.Fatalf("%T is no node.Local", n)
		}
		if run := n.Local(within(t, patience)); run != c.run {
			t.Errorf("%s: run id %q, want %q", what, run, c.run)
		}
	}
}
