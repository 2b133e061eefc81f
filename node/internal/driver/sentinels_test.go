package driver

import (
	"bufio"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// sentinel is a Sentinel whose answers a test decides. A real one forgets no failover at a test's command.
type sentinel struct{ master, epoch string } // an empty master: the Sentinel is cut off

func (f sentinel) serve(c net.Conn) { serve(c, func() sentinel { return f }) }

// serve answers each question as the Sentinel that next returns.
func serve(c net.Conn, next func() sentinel) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		if _, err := ReadAnswer(in); err != nil {
			return
		}
		f := next()
		host, port, _ := net.SplitHostPort(f.master)
		if _, err := c.Write(Command("ip", host, "port", port, "config-epoch", f.epoch)); err != nil {
			return
		}
	}
}

// After a failover only a Sentinel is reached that has not heard of it. The client must not go back to the former master.
func TestAClientDoesNotGoBackToAFormerMaster(t *testing.T) {
	t.Parallel()
	const former, present = "10.0.0.1:6379", "10.0.0.2:6379"
	now := map[string]sentinel{}
	s := &Sentinels{Addrs: []string{"a", "b", "c"}, Name: "m", Dial: func(_ context.Context, addr string) (net.Conn, error) {
		f := now[addr]
		if f.master == "" {
			return nil, errors.New("cut off")
		}
		mine, theirs := net.Pipe()
		go f.serve(theirs)
		return mine, nil
	}}
	master := func(a, b, c sentinel) (string, error) {
		t.Helper()
		s.Close() // drops the idle connections, so that each question dials
		s.closed = false
		now = map[string]sentinel{"a": a, "b": b, "c": c}
		addr := ""
		err := s.Master(t.Context(), func(a string) { addr = a })
		return addr, err
	}
	old, knows := sentinel{former, "7"}, sentinel{present, "8"}
	for _, step := range []struct {
		what    string
		a, b, c sentinel
		want    string // "": an error
	}{
		{"before the failover", old, old, old, former},
		{"one Sentinel has made the failover", knows, old, old, present},
		{"a Sentinel that was cut off", sentinel{}, sentinel{}, old, ""},
		{"the one that made the failover is slow", sentinel{}, old, old, ""},
		{"one Sentinel that knows", sentinel{}, knows, sentinel{}, present},
		{"all have forgotten", old, old, old, ""},
	} {
		got, err := master(step.a, step.b, step.c)
		if got != step.want || (err == nil) != (step.want != "") {
			t.Errorf("%s: the master is %q, want %q: %v", step.what, got, step.want, err)
		}
		if err != nil && !strings.Contains(err.Error(), "have not heard of the last failover") {
			t.Errorf("%s: %v", step.what, err)
		}
	}
	s.heard = time.Now().Add(-2 * stale) // the Sentinels were reset, and count from the beginning
	if got, err := master(sentinel{}, old, sentinel{}); err == nil {
		t.Errorf("one Sentinel is no majority: the master is %q", got)
	}
	if got, err := master(sentinel{}, old, old); got != former {
		t.Errorf("after a reset the master is %q, want %q: %v", got, former, err)
	}
}

// A connection has asked for the master just before a failover. Meanwhile Watch hears of the failover. The client learns
// of both masters in this order. Otherwise it would go back to the former master.
func TestTwoQuestionsAtOnceAreAnsweredInOrder(t *testing.T) {
	t.Parallel()
	const former, present = "10.0.0.1:6379", "10.0.0.2:6379"
	var questions atomic.Int64
	answer := func() sentinel {
		if questions.Add(1) > 1 {
			return sentinel{present, "8"}
		}
		return sentinel{former, "7"}
	}
	s := &Sentinels{Addrs: []string{"a"}, Name: "m", Dial: func(context.Context, string) (net.Conn, error) {
		mine, theirs := net.Pipe()
		go serve(theirs, answer)
		return mine, nil
	}}
	defer s.Close()
	second := make(chan error, 1)
	var all []string // s calls one function at a time
	err := s.Master(t.Context(), func(addr string) {
		heard := make(chan struct{})
		go func() {
			second <- s.Master(t.Context(), func(addr string) { all = append(all, addr); close(heard) })
		}()
		select {
		case <-heard: // a failure: the second answer has overtaken the first
		case <-time.After(100 * time.Millisecond):
		}
		all = append(all, addr)
	})
	if err := errors.Join(err, <-second); err != nil || !slices.Equal(all, []string{former, present}) {
		t.Errorf("the masters are %q, %v; want %q and then %q", all, err, former, present)
	}
}
