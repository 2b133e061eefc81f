//go:build linux

package cluster

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestALossIsBlamedOnAFaultOfItsShardOnly(t *testing.T) {
	t.Parallel()
	hit, fine, other := &redistest.Server{}, &redistest.Server{}, &redistest.Server{}
	second := int64(time.Second)
	strikes := []strike{{names: []int{1}, servers: []*redistest.Server{hit}, at: 100 * second, back: 103 * second}}
	for name, c := range map[string]struct {
		lost  stay
		moves []moved
		want  bool
	}{
		"before the fault":               {stay{Name: 1, Leave: 99 * second}, nil, false},
		"in the fault":                   {stay{Name: 1, Leave: 101 * second}, nil, true},
		"a TTL later":                    {stay{Name: 1, Leave: 103*second + int64(ttl)}, nil, true},
		"later than that":                {stay{Name: 1, Leave: 104*second + int64(ttl)}, nil, false},
		"another shard":                  {stay{Name: 2, Leave: 101 * second}, nil, false},
		"another shard, moved elsewhere": {stay{Name: 2, Leave: 101 * second}, []moved{{2, fine, other, 100 * second, 101 * second}}, false},
		"moved into the shard":           {stay{Name: 2, Leave: 102 * second}, []moved{{2, fine, hit, 99 * second, 101 * second}}, true},
		"moved out of the shard":         {stay{Name: 2, Leave: 102 * second}, []moved{{2, hit, fine, 101 * second, 102 * second}}, true},
		"moved before the fault":         {stay{Name: 2, Leave: 102 * second}, []moved{{2, fine, hit, 90 * second, 91 * second}}, false},
		"moved, but not this name":       {stay{Name: 2, Leave: 102 * second}, []moved{{3, fine, hit, 99 * second, 101 * second}}, false},
	} {
		if got := blame(c.lost, strikes, c.moves) != nil; got != c.want {
			t.Errorf("%s: blamed %t, want %t", name, got, c.want)
		}
	}
}
