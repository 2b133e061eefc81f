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
	l.put(heldEvent{Event: "granted"}, trust{deadline: deadline})
	for range 5000 {
		deadline = deadline.Add(time.Second)
		l.put(heldEvent{Event: "renewed"}, trust{deadline: deadline})
	}
	l.put(heldEvent{Event: "released"}, trust{})
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
		l.put(heldEvent{Event: "lost"}, trust{})
	}
	select {
	case <-l.failed:
	case <-time.After(10 * time.Second):
		t.Error("hold does not notice it")
	}
}

// The machine was suspended after the last renewal: /proc/uptime has gone on, and the clock of Go has not.
func TestALineOfHoldEndsByTheClockThatGoesOn(t *testing.T) {
	up, known := uptime()
	if !known {
		t.Fatal("there is no /proc/uptime")
	}
	past := trust{deadline: time.Now().Add(time.Minute), uptime: up - time.Hour}
	e := heldEvent{Event: "ending"}
	e.validUntil(past)
	if *e.ValidMS > -3500_000 || *e.UntilUptimeMS != past.uptime.Milliseconds() || *e.UntilMS > time.Now().UnixMilli() {
		t.Errorf("valid for %d ms until %d by /proc/uptime", *e.ValidMS, *e.UntilUptimeMS)
	}
}
