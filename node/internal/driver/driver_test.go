package driver

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestAddressHasOneSpelling(t *testing.T) {
	for _, c := range []struct {
		network, addr string
		tls           bool
		db            int
		want          string
	}{
		{"tcp", "Host:6379", false, 0, "redis://host:6379/0"},
		{"tcp", "host", true, 2, "rediss://host:6379/2"},
		{"tcp", ":7", false, 0, "redis://localhost:7/0"},
		{"tcp", "[0:0::1]:7", false, 0, "redis://[::1]:7/0"},
		{"tcp", "[::FFFF:10.0.0.1]:7", false, 0, "redis://10.0.0.1:7/0"},
		{"tcp", "h:06379", false, 0, "redis://h:6379/0"},
		{"unix", "/a b", false, 1, "unix:///a%20b?db=1"},
	} {
		if got := Address(c.network, c.addr, c.tls, c.db); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.network, c.addr, got, c.want)
		}
	}
}

// If the timer of a socket fires just before the context ends, the cause is the deadline. If the timer fires long
// before that, the connection hangs.
func TestTimeoutAtTheDeadlineIsTheDeadline(t *testing.T) {
	reason := errors.New("reason")
	late, cancelLate := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancelLate()
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	over, cancelOver := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancelOver()
	for _, c := range []struct {
		ctx       context.Context
		err, want error
	}{
		{late, os.ErrDeadlineExceeded, nil},
		{over, os.ErrDeadlineExceeded, context.DeadlineExceeded},
		{over, errors.New("reset"), nil},
		{cancelled, context.Canceled, reason},
		{cancelled, errors.New("reset"), nil},
	} {
		if got := Ended(c.ctx, c.err); !errors.Is(got, c.want) {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestFeedDeliversEverythingBeforeTheEnd(t *testing.T) {
	end := errors.New("end")
	var got []string
	err := Feed(t.Context(), func(m string) { got = append(got, m) }, func(_ context.Context, emit func(string)) error {
		for _, m := range []string{"", "a", "b"} {
			emit(m)
		}
		return end
	})
	if err != end || !slices.Equal(got, []string{"", "a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFeedReturnsWithItsContextWhileTheLibraryHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin, hang := time.Now(), make(chan struct{})
		err := Feed(ctx, func(string) { t.Error("told after the end") }, func(_ context.Context, emit func(string)) error {
			<-hang
			emit("late")
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		close(hang)
	})
}
