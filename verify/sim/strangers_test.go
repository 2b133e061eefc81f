package sim

import "testing"

// A stranger's vote does not count, no matter how a client meets the stranger: see strangers.go.
func TestAStrangersVoteDoesNotCount(t *testing.T) {
	alone(t)
	worlds := uint64(60)
	if raced {
		worlds = 12
	}
	var garbage collector
	for seed := range worlds {
		r := run(t, drawStrangers(seed+1), nil)
		garbage.after(r)
		for _, v := range r.Violations {
			t.Errorf("world of strangers %d: %s", seed+1, v)
		}
	}
}
