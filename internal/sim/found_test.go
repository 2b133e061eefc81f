package sim

import (
	"testing"
	"time"
)

// What simulated worlds once found, each in a small world of its own.

// A client's first wait asks before it subscribes. Meanwhile another wait of the client may
// have subscribed, and whoever has the lock in this process give it back: then the waiter
// joins the queues where it is heard, and a hand-off by one node of three begins a question
// to that node alone. The waiter took that for its own, waited for a decision that could not
// come, and never asked again.
func TestAHandOffDuringTheFirstQuestionIsNotWaitedForAlone(t *testing.T) {
	alone(t)
	served := 0
	for seed := uint64(201); seed <= 350; seed++ { // 274 is one that met it
		d := dice(seed)
		p := &Plan{
			Seed: seed, N: 3, Window: 20 * time.Millisecond, MaxTTL: 400 * time.Millisecond, Timeout: 100 * time.Millisecond,
			Slow: 2 * time.Millisecond, Names: []string{"a", "b"}, Heal: 2 * time.Second,
			Clients: []ClientPlan{
				{TTL: 400 * time.Millisecond, Retry: 20 * time.Millisecond, Fair: true},
				{TTL: 400 * time.Millisecond, Retry: 20 * time.Millisecond, Fair: true},
			},
		}
		begin := time.Second // the nodes vote
		lock := func(client, name int, at, hold time.Duration) {
			p.Actors = append(p.Actors, Actor{ID: len(p.Actors), Client: client, Ops: []Op{
				{Pause: begin + at + d.below(time.Millisecond), Name: name, Wait: true, Hold: hold},
			}})
		}
		lock(1, 1, -100*time.Millisecond, 200*time.Millisecond) // in the way, so that b has to be waited for
		lock(0, 0, -50*time.Millisecond, 1)                     // meets the nodes
		lock(0, 0, 0, d.between(time.Millisecond, 5*time.Millisecond))
		lock(0, 0, d.below(2*time.Millisecond), 1)
		lock(0, 1, d.between(-3*time.Millisecond, 6*time.Millisecond), 1) // subscribes
		r := run(t, p, nil)
		if len(r.Violations) > 0 {
			t.Fatalf("seed %d: %s\n%s", seed, r.Violations[0], r.History())
		}
		served += r.Tally.Outcomes[Granted]
	}
	if served < 5*150 {
		t.Errorf("of 750 locks %d were granted", served)
	}
}
