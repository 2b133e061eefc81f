//go:build linux

package chaos

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/anishathalye/porcupine"
)

// A foreign checker also judges the history, as the history of a read-write lock. The checker is porcupine (MIT; 1.3.1
// of 2026-09), the usual linearizability checker in Go. It is quick in cases in which other checkers are slow. It needs
// no JVM, which Knossos needs. It draws the violations that it finds.
//
// An acquire lasts from the call of Lock to its return. A release happens at the moment when the holder stops relying
// on its lease. A writer may take the lock when it is free, and a reader when no writer has it. With fencing, a
// writer's token must also be higher than all tokens before it. A reader's token must be higher than the tokens of all
// writers before it.

type grip struct {
	release, shared bool
	token           int64
	client          int
}

type gripped struct {
	by      int // 0: no writer
	readers int
	token   int64
	written int64 // the highest token of a writer
}

func mutexModel(fenced bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return gripped{} },
		Step: func(state, input, _ any) (bool, any) {
			s, g := state.(gripped), input.(grip)
			token := g.token
			if !fenced {
				token = 0
			}
			next := s
			switch {
			case g.release && g.shared:
				next.readers--
				return s.readers > 0, next
			case g.release:
				next.by = 0
				return s.by == g.client, next
			case s.by != 0, g.shared && fenced && token <= s.written, !g.shared && (s.readers > 0 || fenced && token <= s.token):
				return false, s
			case g.shared:
				next.readers++
			default:
				next.by, next.written = g.client, token
			}
			next.token = max(s.token, token)
			return true, next
		},
		DescribeOperation: func(input, _ any) string {
			g := input.(grip)
			how := ""
			if g.shared {
				how = "shared "
			}
			if g.release {
				return fmt.Sprintf("%srelease by %d", how, g.client)
			}
			return fmt.Sprintf("%sacquire by %d, token %d", how, g.client, g.token)
		},
		DescribeState: func(state any) string {
			s := state.(gripped)
			return fmt.Sprintf("held by %d, %d readers, token %d", s.by, s.readers, s.token)
		},
	}
}

// window is the number of leases that the checker judges together. It limits the memory of the checker, which stores a
// set of operations for each state that it visits.
const window = 100

// checkerTimeout limits the time for one window. The checker should never need it.
const checkerTimeout = time.Minute

// linearity is the checker's result for some windows. It draws pictures of violations only on demand. The decision to
// keep pictures comes after all results, including this one.
type linearity struct {
	windows, illegal, unknown int
	draw                      []func(dir string) error
}

func (l *linearity) add(m linearity) {
	l.windows, l.illegal, l.unknown = l.windows+m.windows, l.illegal+m.illegal, l.unknown+m.unknown
	l.draw = append(l.draw, m.draw...)
}

// operations returns the acquires and the releases of a window. An acquire may take effect at any moment from the call
// of Lock to its return. With atReturn it takes effect at the return. The checker then has very few orders to try. An
// order that it finds is also valid without atReturn. Usually it finds one, because a client relies on its lease only
// from the return on. Without atReturn, the checker can need hours for a window with many waiters and readers.
func operations(part []belief, atReturn bool) (ops []porcupine.Operation) {
	for i, b := range part {
		call := max(b.wanted, part[0].from-1)
		if atReturn {
			call = b.from - 1
		}
		// The index i identifies the client here, because a client locks many times.
		ops = append(ops,
			porcupine.Operation{ClientId: 2 * i, Input: grip{token: b.token, shared: b.shared, client: i + 1}, Call: call, Return: b.from},
			porcupine.Operation{ClientId: 2*i + 1, Input: grip{release: true, shared: b.shared, client: i + 1}, Call: b.to, Return: b.to + 1})
	}
	return ops
}

// linear judges the beliefs in one name, in the order of their begins. It gives the checker the time within for each
// window. Neighbouring windows share a lease, so that no pair is missed between them. The first violation of each
// window can be drawn.
func linear(list []belief, fenced bool, name string, within time.Duration) (l linearity) {
	model := mutexModel(fenced)
	for first := 0; first == 0 || first < len(list)-1; first += window - 1 {
		part := list[first:min(first+window, len(list))]
		result, info := porcupine.CheckOperationsVerbose(model, operations(part, true), within)
		if result != porcupine.Ok {
			result, info = porcupine.CheckOperationsVerbose(model, operations(part, false), within)
		}
		l.windows++
		switch result {
		case porcupine.Unknown:
			l.unknown++
		case porcupine.Illegal:
			if l.illegal++; l.illegal == 1 {
				l.draw = append(l.draw, func(dir string) error {
					return porcupine.VisualizePath(model, info, filepath.Join(dir, fmt.Sprintf("%s-fenced-%t.html", name, fenced)))
				})
			}
		}
	}
	return l
}
