package cli

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Nodes come back empty while an operator thinks: what he is asked is not what is done.
func TestTrustAsksAgainIfAnotherNodeRestartsMeanwhile(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	nodes, err := rueidisnode.Open(servers[0].URL(), servers[1].URL(), servers[2].URL())
	if err != nil {
		t.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes, MaxTTL: 10 * time.Minute, Window: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var said bytes.Buffer
	a := &app{talker: &talker{out: &said}}
	if err := a.vouch(&said, client, nil); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	servers[0].Restart()
	var asked []int
	err = a.vouch(&said, client, func(n int) bool {
		asked = append(asked, n)
		if len(asked) == 1 {
			servers[1].Restart()
		}
		return len(asked) == 1 // what was asked first, and not what is asked then
	})
	if code := asFailure(err).code; len(asked) != 2 || asked[0] != 1 || asked[1] != 2 || code != exitDeclined {
		t.Errorf("asked about %v nodes, then exit %d (%v); want 1, then 2, then %d\n%s", asked, code, err, exitDeclined, &said)
	}
	for i, n := range client.Nodes(context.Background()) {
		if n.Votes() != (i == 2) {
			t.Errorf("node %s", n)
		}
	}
}
