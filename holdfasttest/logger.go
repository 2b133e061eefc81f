package holdfasttest

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
)

// logger returns a Logger that writes to the test's log. go test shows this log only if the test fails. After the
// test the Logger writes nothing, because a late line would panic. Until up is called, the Logger writes only errors:
// new nodes do not vote at first, and this would fill the log with warnings.
func logger(tb testing.TB) (l *slog.Logger, up func()) {
	w := &writer{tb: tb}
	tb.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.tb = nil
	})
	level := &slog.LevelVar{}
	level.Set(slog.LevelError)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), func() { level.Set(slog.LevelInfo) }
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
