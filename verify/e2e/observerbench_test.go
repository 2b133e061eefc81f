package e2e

import (
	"testing"

	"github.com/holdfast-go/holdfast"
)

// BenchmarkObserver measures one lock and unlock on one node: without an observer, and with one that wants all events.
//
//	go test -run - -bench Observer ./verify/e2e
func BenchmarkObserver(b *testing.B) {
	for _, c := range []struct {
		name string
		list []holdfast.Observer
	}{
		{"none", nil},
		{"losses", []holdfast.Observer{{Kinds: []holdfast.EventKind{holdfast.EventLost}, Observe: func(*holdfast.Event) {}}}},
		{"all", []holdfast.Observer{{Observe: func(*holdfast.Event) {}}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := newSet(b, 1).client(func(cfg *holdfast.Config) { cfg.Observers = c.list }).Mutex("bench")
			b.ReportAllocs()
			for b.Loop() {
				l, err := m.Lock(b.Context())
				if err == nil {
					err = l.Unlock(b.Context())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
