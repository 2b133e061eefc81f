package redistest

import (
	"strconv"
	"testing"
	"time"
)

// micros returns the server's wall clock, which it reads by a command or a script.
func micros(t *testing.T, s *Server, cmd ...any) int64 {
	t.Helper()
	v := s.MustDo(t, cmd...).([]any)
	sec, _ := strconv.ParseInt(v[0].(string), 10, 64)
	us, _ := strconv.ParseInt(v[1].(string), 10, 64)
	return sec*1e6 + us
}

var clocks = map[string][]any{
	"TIME": {"TIME"},
	"Lua":  {"EVAL", "return redis.call('TIME')", "0"},
}

func TestStepMovesTheWallClock(t *testing.T) {
	t.Parallel()
	s := Start(t, WithClock())
	for _, d := range []time.Duration{0, time.Hour, -time.Hour, 1234567 * time.Microsecond} {
		s.Step(d)
		for name, cmd := range clocks {
			before := time.Now().Add(d).UnixMicro()
			got := micros(t, s, cmd...)
			after := time.Now().Add(d).UnixMicro()
			if got < before || got > after {
				t.Errorf("stepped by %v, %s is %d, want within [%d, %d]", d, name, got, before, after)
			}
		}
	}
}

func TestSetClockStopsTheWallClock(t *testing.T) {
	t.Parallel()
	s := Start(t, WithClock())
	const at = 1_795_160_278_361_371
	s.SetClock(at)
	for name, cmd := range clocks {
		if got := micros(t, s, cmd...); got != at {
			t.Errorf("%s is %d, want exactly %d", name, got, at)
		}
	}
	s.Restart()
	if got := micros(t, s, "TIME"); got != at {
		t.Errorf("after restart the clock is %d, want still %d", got, at)
	}
	s.ResetClock()
	if got, now := micros(t, s, "TIME"), time.Now().UnixMicro(); got > now || got < now-patience.Microseconds() {
		t.Errorf("after reset the clock is %d, want about %d", got, now)
	}
}

func TestRateMakesTheWallClockDrift(t *testing.T) {
	t.Parallel()
	s := Start(t, WithClock())
	s.Step(time.Hour)
	for _, f := range []float64{0.5, 3} {
		before := time.Now()
		s.Rate(f)
		after := time.Now()
		time.Sleep(20 * time.Millisecond)
		least := time.Since(after)
		got := time.UnixMicro(micros(t, s, "TIME")).Sub(before.Add(time.Hour))
		most := time.Since(before)
		low, high := time.Duration(f*float64(least)), time.Duration(f*float64(most))
		if got < low-3*time.Millisecond || got > high+3*time.Millisecond {
			t.Errorf("at %g times its pace the clock went on by %s in %s to %s", f, got, least, most)
		}
		s.Step(time.Hour)
	}
}

func TestExpiryFollowsTheWallClock(t *testing.T) {
	t.Parallel()
	s := Start(t, WithClock())
	const at = 1_795_160_278_361_371
	s.SetClock(at)
	s.MustDo(t, "SET", "k", "v", "PX", 1000)
	if got := s.MustDo(t, "PTTL", "k"); got != int64(1000) {
		t.Errorf("PTTL %v on a stopped clock, want 1000", got)
	}
	s.SetClock(at + 999_000)
	if got := s.MustDo(t, "GET", "k"); got != "v" {
		t.Errorf("1 ms before its expiry the key is %v", got)
	}
	s.SetClock(at + 1_001_000)
	if got := s.MustDo(t, "GET", "k"); got != nil {
		t.Errorf("1 ms after its expiry the key is %v", got)
	}
	s.SetClock(at)
	s.MustDo(t, "SET", "k", "v", "PX", 1000)
	s.SetClock(at + 1_001_000)
	if got := s.MustDo(t, "EVAL", "return redis.call('GET', KEYS[1])", 1, "k"); got != nil {
		t.Errorf("1 ms after its expiry a script sees %v", got)
	}
}
