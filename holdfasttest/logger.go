package holdfasttest

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
)

// logger writes to the test's log while the test runs, which says nothing unless it
// fails, and nowhere after: a log line of a goroutine that is just ending must not
// panic a test that is over.
func logger(tb testing.TB) *slog.Logger {
	w := &writer{tb: tb}
	tb.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.tb = nil
	})
	return slog.New(slog.NewTextHandler(w, nil))
}

type writer struct {
	mu sync.Mutex
	tb testing.TB
}

func (w *writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tb != nil {
		w.tb.Log(string(bytes.TrimRight(line, "\n")))
	}
	return len(line), nil
}
