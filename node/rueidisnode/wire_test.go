package rueidisnode

import (
	"net"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// pair returns a wire and its other end.
func pair(t *testing.T) (*wire, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	return &wire{Conn: near, socket: near, look: newLook(near), stop: func() bool { return true }}, far
}

// timesOut checks that a read on which no data comes times out.
func timesOut(t *testing.T, name string, w *wire) {
	t.Helper()
	late := time.AfterFunc(10*time.Second, func() { _ = w.Close() })
	defer late.Stop()
	if _, err := w.Read(make([]byte, 1)); !node.Timeout(err) {
		t.Errorf("%s: %v", name, err)
	}
}

// rueidis sets a deadline at the beginning of a call. The cancellation of the call may have come before that.
func TestCancellationBeforeTheDeadlineIsSet(t *testing.T) {
	w, _ := pair(t)
	w.giveUp()
	_ = w.SetDeadline(time.Now().Add(time.Hour))
	timesOut(t, "cancelled", w)
}

func TestTheDeadlineOfTheCallCounts(t *testing.T) {
	for name, c := range map[string]struct{ ours, theirs, want time.Duration }{
		"ours":        {time.Millisecond, time.Hour, time.Millisecond},
		"ours, later": {50 * time.Millisecond, time.Millisecond, 50 * time.Millisecond},
		"only ours":   {time.Millisecond, 0, time.Millisecond},
		"only theirs": {0, time.Millisecond, time.Millisecond},
	} {
		w, _ := pair(t)
		at := func(d time.Duration) (t time.Time) {
			if d != 0 {
				t = time.Now().Add(d)
			}
			return t
		}
		began := time.Now()
		w.until = at(c.ours)
		_ = w.SetDeadline(at(c.theirs))
		timesOut(t, name, w)
		if took := time.Since(began); took < c.want {
			t.Errorf("%s: over after %s, want %s", name, took, c.want)
		}
	}
}

func TestIdleWireKnowsWhenItsPeerHasGone(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(far net.Conn)
		gone bool
	}{
		"silent": {func(net.Conn) {}, false},
		"closed": {func(far net.Conn) { _ = far.Close() }, true},
		"reset":  {func(far net.Conn) { _ = far.(*net.TCPConn).SetLinger(0); _ = far.Close() }, true},
		"spoke":  {func(far net.Conn) { _, _ = far.Write([]byte("x")) }, true},
	} {
		w, far := pair(t)
		_ = w.SetDeadline(past) // this deadline belongs to the call before; it must not matter
		c.do(far)
		if c.gone {
			redistest.Eventually(t, 10*time.Second, name+" is noticed", w.gone)
		} else if w.gone() {
			t.Errorf("%s: gone", name)
		}
	}
}
