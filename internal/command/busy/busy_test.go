package busy

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/command/sample"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// TestASetIsBusy waits until the set shows all kinds of locks, and until its last node came back without its memory.
func TestASetIsBusy(t *testing.T) {
	// A busy machine is slow, and so is the race detector.
	config = holdfast.Config{NodeTimeout: 10 * time.Second, Window: time.Second}
	away, gone, crowd, pause = 8*time.Second, 300*time.Millisecond, 1, 10*time.Second
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
	kinds, back := map[string]bool{}, false
	for end := time.Now().Add(2 * time.Minute); len(kinds) < 5 || !back; {
		state := r.Read(t.Context())
		for _, n := range state.Names {
			kinds[n.Kind] = true
		}
		back = back || len(state.Nodes) == 5 && state.Nodes[4].Reason == "quarantined"
		if time.Now().After(end) {
			t.Fatalf("kinds %v, the node came back: %t; %s", kinds, back, state.JSON())
		}
	}
}
