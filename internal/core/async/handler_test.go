package async

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// plain has options for a handler that leaves the time out.
var plain = &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}}

func TestALoggersLinesAreWrittenAsidePlainAsTheyWere(t *testing.T) {
	var q Queue
	var out bytes.Buffer
	log := slog.New(Handler(slog.NewTextHandler(&out, plain), &q))
	goOn := stuck(&q)
	log.Info("one", "a", 1)
	log.Debug("not asked for")
	node := log.With("node", "n1")
	node.WithGroup("g").Warn("two", "b", 2)
	log.Error("three")
	if out.Len() > 0 {
		t.Errorf("written by the caller: %q", out.String())
	}
	goOn()
	q.Wait(Forever)
	want := "level=INFO msg=one a=1\nlevel=WARN msg=two node=n1 g.b=2\nlevel=ERROR msg=three\n"
	if out.String() != want {
		t.Errorf("written:\n%swant:\n%s", out.String(), want)
	}
}

func TestALoggerIsToldHowMuchItMissed(t *testing.T) {
	var q Queue
	var out bytes.Buffer
	log := slog.New(Handler(slog.NewTextHandler(&out, plain), &q))
	goOn := stuck(&q)
	for range Room + 7 {
		log.Info("x")
	}
	goOn()
	q.Wait(Forever)
	if got := strings.Count(out.String(), "msg=x"); got != Room {
		t.Errorf("%d lines, want %d", got, Room)
	}
	if !strings.HasSuffix(out.String(), "records=7\n") {
		t.Errorf("the end is %q", out.String()[max(0, out.Len()-100):])
	}
}

func TestWhatNobodyWantsToReadCostsNothing(t *testing.T) {
	var q Queue
	if h := Handler(slog.DiscardHandler, &q); h != slog.DiscardHandler {
		t.Errorf("a discarded log goes through %T", h)
	}
	log := slog.New(Handler(slog.NewTextHandler(&bytes.Buffer{}, &slog.HandlerOptions{Level: slog.LevelError}), &q))
	if n := testing.AllocsPerRun(100, func() { log.Warn("x") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if q.idle != nil {
		t.Error("a goroutine was started")
	}
}
