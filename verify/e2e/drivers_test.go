package e2e

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// A program that changes its driver, and programs with different drivers, must get the same default cluster name.
func TestDriversAgreeOnAddresses(t *testing.T) {
	for _, url := range []string{
		"redis://10.0.0.7", "redis://u:p@10.0.0.7:7000/2", "rediss://redis.example:6380", "redis://LOCALHOST",
		"redis://[::1]:6379/1", "redis://[0:0::1]", "unix:///run/redis.sock", "unix:///run/my%20redis.sock?db=3",
	} {
		o, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		c := redis.NewClient(o)
		defer c.Close()
		g, err := goredisnode.New(c)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		r, err := rueidisnode.New(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if g.Addr() != r.Addr() {
			t.Errorf("%s: go-redis says %s, rueidis %s", url, g.Addr(), r.Addr())
		}
	}
	c := redis.NewClient(&redis.Options{}) // this client has the default address
	defer c.Close()
	g, err := goredisnode.New(c)
	if err != nil || g.Addr() != "redis://localhost:6379/0" {
		t.Errorf("%v, %v", g, err)
	}
	g.Close()
}
