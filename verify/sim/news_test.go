package sim

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A client gives up a subscription that hangs, as a driver does. Otherwise the client would hear nothing from a node
// for as long as the slowest message takes, even after all faults.
func TestASubscriptionThatHangsIsGivenUp(t *testing.T) {
	for late, want := range map[time.Duration]error{10 * time.Millisecond: nil, 5 * time.Second: errBroke} {
		synctest.Test(t, func(t *testing.T) {
			p := small(1)
			p.Faults = []Fault{{Kind: Delay, By: late, P: 1, For: time.Minute, Nodes: 1<<p.N - 1, Clients: 1}}
			w := &world{plan: p, start: time.Now(), ctx: t.Context()}
			w.servers = append(w.servers, newServer(w, 0))
			w.during(&p.Faults[0])
			stood := make(chan error, 1)
			go func() {
				stood <- newLink(&host{w: w}, 0, 0).Listen(t.Context(), "inbox", func(string) { stood <- nil })
			}()
			if err := <-stood; !errors.Is(err, want) || w.now() > hungAfter+time.Millisecond {
				t.Errorf("an answer that takes %s: %v after %s; want %v", late, err, w.now(), want)
			}
		})
	}
}
