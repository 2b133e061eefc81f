package nodetest

import (
	"net"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// nobody is an address where nobody listens.
const nobody = "127.0.0.1:1"

func (s clusters) oneSeedIsEnough(t *testing.T) {
	servers := redistest.StartCluster(t, 3, 0)
	hangs, err := net.Listen("tcp", "127.0.0.1:0") // its kernel accepts, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close()
	c := s.cluster(t, Access{Seeds: []string{nobody, servers.Addrs()[2], hangs.Addr().String()}})
	if now := c.Topology(); len(now.Shards) != 3 || now.Servers != 3 {
		t.Errorf("%d shards of %d servers", len(now.Shards), now.Servers)
	}
}

func (s clusters) whatIsNoClusterIsRefused(t *testing.T) {
	a, b, plain := redistest.StartCluster(t, 1, 0).Addrs()[0], redistest.StartCluster(t, 1, 0).Addrs()[0], redistest.Start(t).Addr()
	safe := redistest.StartCluster(t, 1, 0, redistest.Password("secret"), redistest.User("app", "p", "+@all", "-cluster")).Addrs()
	hidden := redistest.StartCluster(t, 1, 0, redistest.Args("--cluster-announce-port", "1")).Addrs()
	for _, c := range []struct {
		a    Access
		says string // and the addresses of the seeds where it has a $
		code string
	}{
		{Access{Seeds: []string{plain}}, "it is no Redis Cluster; use redis://", ""},
		{Access{Seeds: []string{a, plain}}, "it is no Redis Cluster; use redis://", ""},
		{Access{Seeds: []string{nobody, plain}}, "it is no Redis Cluster; use redis://", ""},
		{Access{Seeds: []string{a, b}}, "belong to two clusters", ""},
		{Access{Seeds: safe}, "put the password into the URL: redis+cluster://:PASSWORD@host", node.NoAuth},
		{Access{Seeds: safe, Password: "wrong"}, "the user and password are for all servers", node.WrongPass},
		{Access{Seeds: safe, User: "app", Password: "p"}, "its user needs +cluster|nodes", node.NoPerm},
		{Access{Seeds: hidden}, "the server at " + hidden[0] + " announces the address 127.0.0.1:1, which cannot be reached from here: set cluster-announce-ip and", ""},
		{Access{Seeds: []string{nobody}}, "no server of the cluster answers: the server 127.0.0.1:1: connect:", ""},
	} {
		cluster := s.open(t, c.a)
		_, err := cluster.Look(within(t, patience))
		if err == nil || !strings.Contains(err.Error(), c.says) || node.Code(err) != c.code || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v; want %q and the code %q", c.a.Seeds, err, c.says, c.code)
		}
		for _, seed := range c.a.Seeds {
			if c.says == "belong to two clusters" && !strings.Contains(err.Error(), seed) {
				t.Errorf("%v does not name %s", err, seed)
			}
		}
		if cluster.Topology() != nil {
			t.Errorf("%v: there is a topology", c.a.Seeds)
		}
		cluster.Close()
	}
}
