package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// A program that does not read its lines neither stops hold nor fills its queue.
func TestLinesOfHoldWaitForNoReader(t *testing.T) {
	r, w := io.Pipe()
	l := newHoldLines(w)
	deadline := time.Now().Add(time.Minute)
	l.put(heldEvent{Event: "granted"}, deadline)
	for range 5000 {
		deadline = deadline.Add(time.Second)
		l.put(heldEvent{Event: "renewed"}, deadline)
	}
	l.put(heldEvent{Event: "released"}, time.Time{})
	began := time.Now()
	l.flush()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("flush took %s", took)
	}
	var all bytes.Buffer
	go func() {
		l.queue.Wait(time.Minute)
		_ = w.Close()
	}()
	if _, err := io.Copy(&all, r); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(all.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "granted") || !strings.Contains(lines[1], "renewed") || !strings.Contains(lines[2], "released") {
		t.Fatalf("the lines are %q", lines)
	}
	if valid := time.Until(deadline); !strings.Contains(lines[1], `"valid_ms":5`) || valid < 5000*time.Second {
		t.Errorf("the renewal is %s; want the last one, which is valid for %s", lines[1], valid)
	}
}

// Nobody reads any more.
func TestHoldNoticesThatNobodyReadsItsLines(t *testing.T) {
	r, w := io.Pipe()
	_ = r.Close()
	l := newHoldLines(w)
	for range 3 {
		l.put(heldEvent{Event: "lost"}, time.Time{})
	}
	select {
	case <-l.failed:
	case <-time.After(10 * time.Second):
		t.Error("hold does not notice it")
	}
}
