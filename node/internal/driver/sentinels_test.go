package driver

import (
	"bufio"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// sentinel is a Sentinel whose answers a test decides. A real one forgets no failover at a test's command.
type sentinel struct{ master, epoch string } // an empty master: the Sentinel is cut off

// serve answers each question as the Sentinel that next returns, and hangs up if that one is cut off. A question has
// three commands.
func serve(c net.Conn, next func() sentinel) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		f := sentinel{}
		for i := range 3 {
			a, err := ReadAnswer(in)
			if err != nil {
				return
			}
			if i == 0 {
				f = next()
			}
			if f.master == "" {
				return
			}
			host, port, _ := net.SplitHostPort(f.master)
			answer := Command("ip", "10.0.0.9", "port", "1", "config-epoch", f.epoch) // the address may be that of the former master
			if a.Words[1] == "GET-MASTER-ADDR-BY-NAME" {
				answer = Command(host, port)
			}
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
	}
}

// After a failover only a Sentinel is reached that has not heard of it. The client must not go back to the former
// master.
func TestAClientDoesNotGoBackToAFormerMaster(t *testing.T) {
	t.Parallel()
	const former, present = "10.0.0.1:6379", "10.0.0.2:6379"
	var mu sync.Mutex // a question to a Sentinel may outlast the call of Master
	now := map[string]sentinel{}
	s := &Sentinels{Addrs: []string{"a", "b", "c"}, Name: "m", Dial: func(_ context.Context, addr string) (net.Conn, error) {
		mu.Lock()
		f := now[addr]
		mu.Unlock()
		if f.master == "" {
			return nil, errors.New("cut off")
		}
		mine, theirs := net.Pipe()
		go serve(theirs, func() sentinel {
			mu.Lock()
			defer mu.Unlock()
			return now[addr]
		})
		return mine, nil
	}}
	defer s.Close()
	master := func(a, b, c sentinel) (got Named, err error) {
		t.Helper()
		mu.Lock()
		now = map[string]sentinel{"a": a, "b": b, "c": c}
		mu.Unlock()
		err = s.Master(t.Context(), func(m Named) { got = m })
		return got, err
	}
	off, old, knows := sentinel{}, sentinel{former, "7"}, sentinel{present, "8"}
	for _, step := range []struct {
		what    string
		a, b, c sentinel
		want    string // "": an error
		says    string
	}{
		{"before the failover", old, old, old, former, ""},
		{"one Sentinel has made the failover", knows, old, old, former, ""},
		{"one Sentinel is cut off, and the others disagree", off, knows, old, "", "2 of 3 answered"},
		{"one Sentinel that knows", off, knows, off, "", "1 of 3 answered"},
		{"two Sentinels know", knows, old, knows, present, ""},
		{"a Sentinel that was cut off", off, off, old, "", "1 of 3 answered"},
		{"the others have not heard of it", off, old, old, "", "have not heard of the last failover"},
		{"three answers", knows, old, sentinel{present, "9"}, "", "a failover may be under way"},
		{"all have forgotten", old, old, old, "", "have not heard of the last failover"},
	} {
		got, err := master(step.a, step.b, step.c)
		if got.Addr != step.want || (err == nil) != (step.want != "") {
			t.Errorf("%s: the master is %q, want %q: %v", step.what, got.Addr, step.want, err)
		}
		if err != nil && !strings.Contains(err.Error(), step.says) {
			t.Errorf("%s: %v", step.what, err)
		}
	}
	s.heard = time.Now().Add(-2 * stale) // the Sentinels lost their state, and count from the beginning
	if got, err := master(off, old, off); err == nil {
		t.Errorf("one Sentinel is no majority: the master is %q", got.Addr)
	}
	if got, err := master(off, old, old); got.Addr != former || got.Epoch != "0000000000000007" || got.Firm {
		t.Errorf("after a loss of state the master is %+v, want %q: %v", got, former, err)
	}
	s.since = s.since.Add(-stale)
	if got, err := master(off, old, old); !got.Firm {
		t.Errorf("the Sentinels have said so for some time: %+v, %v", got, err)
	}
}

// A connection has asked for the master just before a failover. Meanwhile Watch hears of the failover. The client
// learns of both masters in this order. Otherwise it would go back to the former master.
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
	err := s.Master(t.Context(), func(m Named) {
		heard := make(chan struct{})
		go func() {
			second <- s.Master(t.Context(), func(m Named) { all = append(all, m.Addr); close(heard) })
		}()
		select {
		case <-heard: // a failure: the second answer has overtaken the first
		case <-time.After(100 * time.Millisecond):
		}
		all = append(all, m.Addr)
	})
	if err := errors.Join(err, <-second); err != nil || !slices.Equal(all, []string{former, present}) {
		t.Errorf("the masters are %q, %v; want %q and then %q", all, err, former, present)
	}
}
