package nodetest

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// identityIsProven asks where new connections lead, with every kind of login.
func (s suite) identityIsProven(t *testing.T) {
	server := redistest.Start(t, redistest.Password("p%ss/w@rd"))
	server.MustDo(t, "ACL", "SETUSER", "alice", "on", ">wonder", "~*", "&*", "+@all")
	server.MustDo(t, "ACL", "SETUSER", "mute", "on", ">wonder", "~*", "&*", "+@all", "-info")
	info, err := server.Do("INFO", "server")
	if err != nil {
		t.Fatal(err)
	}
	_, run, _ := strings.Cut(info.(string), "run_id:")
	run, _, _ = strings.Cut(run, "\r")
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
