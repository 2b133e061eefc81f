package holdfasttest

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
)

// logger returns a Logger that writes to the test's log while the test runs. That log shows nothing unless the test
// fails. After the test it writes nowhere: a log line of a goroutine that is just ending must not panic a finished
// test. Until up is called it writes errors only, because the nodes of each new set do not vote at first.
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
