package nodemodel

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// A model that replaces a node in a simulation sends hand-off messages as a server does.
func TestListenHearsUntilTheNodeRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New("model", func() int64 { return start }, Info{Run: "1"})
		var heard []string
		end := make(chan error, 1)
		go func() { end <- n.Listen(t.Context(), "c", func(m string) { heard = append(heard, m) }) }()
		synctest.Wait()
		for _, m := range []string{"one", "two"} {
			n.run(func() (string, error) {
				if got := n.publish("c", m); got != 1 || n.publish("other", m) != 0 {
					t.Errorf("%d heard it", got)
				}
				return "", nil
			})
		}
		synctest.Wait()
		if want := []string{"", "one", "two"}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
		n.Restart("2", "", false)
		if err := <-end; err == nil {
			t.Error("listening ended without a reason")
		}

		ctx, cancel := context.WithCancel(t.Context())
		go func() { end <- n.Listen(ctx, "c", func(string) {}) }()
		synctest.Wait()
		cancel()
		if err := <-end; !errors.Is(err, context.Canceled) {
			t.Errorf("listening ended because of %v", err)
		}
		if len(n.listeners) != 0 {
			t.Errorf("%d listeners were left", len(n.listeners))
		}
	})
}
