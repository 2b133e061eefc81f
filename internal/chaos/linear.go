//go:build linux

package chaos

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/anishathalye/porcupine"
)

// The history as one of a mutex, judged by a checker that is not ours: porcupine (MIT; 1.3.1 of 2026-09), the
// linearizability checker that the field uses from Go. It is quick where others are not, needs no JVM as
// Knossos does, and draws what it finds.
//
// An acquire lasts from the wish to the return of Lock; a release happens when the belief ends. The mutex
// may be taken when it is free, and with fencing only under a higher token than before.

type grip struct {
	release bool
	token   int64
	client  int
}

type gripped struct {
	by    int // 0 is nobody
	token int64
}

func mutexModel(fenced bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return gripped{} },
		Step: func(state, input, _ any) (bool, any) {
			s, g := state.(gripped), input.(grip)
			switch {
			case g.release:
				return s.by == g.client, gripped{0, s.token}
			case s.by != 0 || fenced && g.token <= s.token:
				return false, s
			case !fenced:
				return true, gripped{by: g.client}
			}
			return true, gripped{g.client, g.token}
		},
		DescribeOperation: func(input, _ any) string {
			g := input.(grip)
			if g.release {
				return fmt.Sprintf("release by %d", g.client)
			}
			return fmt.Sprintf("acquire by %d, token %d", g.client, g.token)
		},
		DescribeState: func(state any) string {
			s := state.(gripped)
			return fmt.Sprintf("held by %d, token %d", s.by, s.token)
		},
	}
}

// window is how many leases are judged together: the checker remembers a set of
// operations for each state it was in.
const window = 150

// Of one window; the demand is that it is never needed.
const checkerTimeout = 20 * time.Second

// linear judges one name's beliefs, in the order of their beginnings. Windows share a lease,
// so that none is between two of them. A picture of the first that fails is drawn into keep.
func linear(list []belief, fenced bool, keep, name string) (windows, illegal, unknown int) {
	model := mutexModel(fenced)
	for first := 0; first == 0 || first < len(list)-1; first += window - 1 {
		part := list[first:min(first+window, len(list))]
		var ops []porcupine.Operation
		for i, b := range part {
			// Who is told apart by its place, since a client locks again and again.
			ops = append(ops,
				porcupine.Operation{ClientId: 2 * i, Input: grip{token: b.token, client: i + 1}, Call: max(b.wanted, part[0].from-1), Return: b.from},
				porcupine.Operation{ClientId: 2*i + 1, Input: grip{release: true, client: i + 1}, Call: b.to, Return: b.to + 1})
		}
		result, info := porcupine.CheckOperationsVerbose(model, ops, checkerTimeout)
		windows++
		switch result {
		case porcupine.Unknown:
			unknown++
		case porcupine.Illegal:
			if illegal++; illegal == 1 && keep != "" {
				_ = porcupine.VisualizePath(model, info, filepath.Join(keep, fmt.Sprintf("%s-fenced-%t.html", name, fenced)))
			}
		}
	}
	return windows, illegal, unknown
}
