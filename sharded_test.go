package holdfast

import (
	"fmt"
	"testing"
)

// With one set more, a name stays where it is, or moves to the new set. Each set gets its share.
func TestOneSetMoreTakesNamesFromTheOthersOnly(t *testing.T) {
	t.Parallel()
	const names = 10000
	for n := 1; n <= 8; n++ {
		got := make([]int, n+1)
		for i := range names {
			name := fmt.Sprint("name", i)
			was, is := setOf(name, n), setOf(name, n+1)
			if is != was && is != n {
				t.Fatalf("%q moves from set %d of %d to set %d", name, was, n, is)
			}
			got[is]++
		}
		for i, k := range got {
			if share := names / (n + 1); k < share*8/10 || k > share*12/10 {
				t.Errorf("set %d of %d has %d of %d names", i, n+1, k, names)
			}
		}
	}
}

// Names with one tag belong together, as in a Redis Cluster.
func TestATagKeepsNamesInOneSet(t *testing.T) {
	t.Parallel()
	for i := range 100 {
		if a, b := setOf(fmt.Sprintf("{tenant%d}:a", i), 5), setOf(fmt.Sprintf("{tenant%d}:b", i), 5); a != b {
			t.Errorf("the names of tenant %d are in the sets %d and %d", i, a, b)
		}
	}
}
