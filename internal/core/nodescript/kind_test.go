package nodescript

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Kinds with equal lines wait in the same line, and one of them may pass its lease to another. So different locks and
// semaphores must have different lines, for any name that a user may choose. The names here are like parts of lines.
func TestOnlyOneLockHasALine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	parts := []string{"x", "1", "5", "15", " ", "{x}", ":slots", ":holdfast", ":holdfast:queue", ":queue", ":reading"}
	type lock struct {
		name string
		k    int // 0: not a semaphore
	}
	seen, legal := map[string]lock{}, 0
	for range 200_000 {
		var b strings.Builder
		for range 1 + rng.IntN(5) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		l := lock{name: b.String(), k: []int{0, 1, 5, 15, 51}[rng.IntN(5)]}
		if CheckName(l.name) != nil {
			continue
		}
		legal++
		line := NewExclusive(Lock{Name: l.name}).Line()
		if l.k > 0 {
			line = NewSemaphore(NewSlots(l.name, l.k)).Any().Line()
		}
		if other, there := seen[line]; there && other != l {
			t.Fatalf("%+v and %+v have the same line, %q", l, other, line)
		}
		seen[line] = l
	}
	if legal < 50_000 {
		t.Errorf("only %d names were legal", legal)
	}
}
