package busy

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// TestASetIsBusy waits until the set shows all kinds of locks, and until its last node came back without its memory.
func TestASetIsBusy(t *testing.T) {
	// A busy machine is slow, and so is the race detector. The quarantine is longer than two readings may take.
	config = holdfast.Config{NodeTimeout: 10 * time.Second, Window: time.Second, MaxTTL: 90 * time.Second}
	away, gone, crowd, pause = time.Hour, 300*time.Millisecond, 1, 10*time.Second
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	nodes, err := rueidisnode.Open(s.URLs()...)
	if err != nil {
		t.Fatal(err)
	}
	own := config
	own.Nodes = nodes
	client, err := holdfast.New(own)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r := &sample.Reader{Client: client, Nodes: nodes, Patience: 30 * time.Second}
	kinds := map[string]bool{}
	read := func(what string, seen func(*sample.State) bool) {
		for end := time.Now().Add(4 * time.Minute); ; {
			state := r.Read(t.Context())
			for _, n := range state.Names {
				kinds[n.Kind] = true
			}
			if seen(state) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: kinds %v; %s", what, kinds, state.JSON())
			}
		}
	}
	read("not all kinds", func(*sample.State) bool { return len(kinds) == 5 })
	if !s.restart() {
		t.Fatal("the last node did not come back")
	}
	read("no quarantine", func(state *sample.State) bool { return len(state.Nodes) == 5 && state.Nodes[0].Reason == "quarantined" })
}
