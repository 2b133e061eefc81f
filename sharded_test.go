package holdfast

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
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

// Clients list the servers of a set in any order. The order of the sets decides where a name is, so it counts.
func TestTheOrderOfServersInASetDoesNotCount(t *testing.T) {
	t.Parallel()
	var n [4]node.Node
	for i := range n {
		n[i] = nodemodel.Master(fmt.Sprint("run", i), nodemodel.Now, nodescript.Config{})
	}
	name := clusterName(Sharded(n[:2], n[2:]))
	if other := clusterName(Sharded([]node.Node{n[1], n[0]}, []node.Node{n[3], n[2]})); other != name {
		t.Errorf("with the servers of a set in another order, the default of Config.Cluster is %s instead of %s", other, name)
	}
	if other := clusterName(Sharded(n[2:], n[:2])); other == name {
		t.Error("the order of the sets does not count")
	}
}
