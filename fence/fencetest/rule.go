package fencetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/holdfast-go/holdfast/fence"
)

func empty(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.reads(reader(1), "")
	a.reads(writer(1), "")
	return a.err
}

func kept(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	for i, value := range []string{"one", "", "two\n", string(bytes), strings.Repeat("0123456789abcdef", 4096)} {
		a.writes(writer(int64(i)+1), value)
		a.reads(writer(int64(i)+1), value)
	}
	return a.err
}

func oldWriter(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.writes(writer(5), "five")
	a.refusesWrite(writer(4))
	a.reads(writer(5), "five")
	a.writes(writer(6), "six")
	a.refusesWrite(writer(5))
	a.refusesRead(writer(5))
	a.reads(writer(6), "six")
	return a.err
}

func showing(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.writes(writer(5), "five")
	a.reads(writer(9), "five")
	a.refusesWrite(writer(5))
	a.reads(writer(9), "five")
	return a.err
}

func readerStopsWriters(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.writes(writer(5), "five")
	a.reads(reader(8), "five")
	a.refusesWrite(writer(7))
	a.refusesRead(writer(7)) // the lease with token 7 is exclusive, and 8 was seen, so this lease has ended
	a.writes(writer(9), "nine")
	return a.err
}

func writerStopsReaders(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.writes(writer(8), "eight")
	a.refusesRead(reader(7))
	a.reads(reader(9), "eight")
	return a.err
}

func readersTogether(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.writes(writer(5), "five")
	a.reads(reader(8), "five")
	a.reads(reader(7), "five") // with a single mark, the store would refuse this reader
	a.refusesWrite(writer(7))  // 8 is still the mark
	a.reads(reader(8), "five")
	a.writes(writer(9), "nine")
	a.refusesRead(reader(8))
	return a.err
}

func manyCalls(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	for i := range 3 {
		a.reads(writer(5), strings.Repeat("x", i))
		a.writes(writer(5), strings.Repeat("x", i+1))
	}
	a.reads(reader(6), "xxx")
	a.reads(reader(6), "xxx")
	return a.err
}

func evidence(ctx context.Context, s suite) error {
	for _, c := range []struct{ mark, old fence.Token }{
		{writer(9), writer(7)}, {writer(9), reader(7)}, {reader(9), writer(7)},
	} {
		r, err := s.register(ctx, fmt.Sprintf("%s-%s", c.mark.Mode, c.old.Mode))
		if err != nil {
			return err
		}
		if _, err := r.Read(ctx, c.mark); err != nil {
			return fmt.Errorf("a read with %s: %w", c.mark, err)
		}
		_, err = r.Read(ctx, c.old)
		var stale *fence.StaleError
		if !errors.As(err, &stale) {
			return fmt.Errorf("a read with %s after %s: %w; want a *fence.StaleError", c.old, c.mark, err)
		}
		if stale.Token != c.old || stale.Mark != c.mark || stale.Resource == "" {
			return fmt.Errorf("the error names the resource %q, %s and %s; want a name, %s and %s",
				stale.Resource, stale.Token, stale.Mark, c.old, c.mark)
		}
	}
	return nil
}

func nothingChanged(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.writes(writer(5), "five")
	a.reads(reader(7), "five")
	a.refusesWrite(writer(6)) // token 6 of a refused write must not become the mark of writers
	a.reads(reader(5), "five")
	a.refusesRead(reader(4))
	a.refusesWrite(writer(4))
	a.reads(reader(7), "five")
	a.writes(writer(7), "seven")
	return a.err
}

func largeTokens(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	for _, n := range []int64{9, 10, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		a.writes(writer(n), fmt.Sprint(n))
		a.refusesWrite(writer(n - 1))
		a.reads(reader(n), fmt.Sprint(n))
		a.refusesRead(reader(n - 1))
	}
	return a.err
}

func badTokens(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.reads(writer(1), "")
	if a.err != nil {
		return a.err
	}
	for _, t := range []fence.Token{writer(0), reader(0), writer(-1), reader(-5), writer(math.MinInt64), {Fence: 9, Mode: 7}} {
		if _, err := a.on.Read(ctx, t); !errors.Is(err, fence.ErrBadToken) {
			return fmt.Errorf("a read with %s: %w; want an error that matches ErrBadToken", t, orNothing(err))
		}
		if err := a.on.Write(ctx, t, []byte("bad")); !errors.Is(err, fence.ErrBadToken) {
			return fmt.Errorf("a write with %s: %w; want an error that matches ErrBadToken", t, orNothing(err))
		}
	}
	a.reads(writer(1), "")
	return a.err
}

func readersCannotWrite(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.writes(writer(5), "five")
	if a.err != nil {
		return a.err
	}
	if err := a.on.Write(ctx, reader(9), []byte("nine")); !errors.Is(err, fence.ErrReader) {
		return fmt.Errorf("a write with %s: %w; want an error that matches ErrReader", reader(9), orNothing(err))
	}
	a.reads(writer(5), "five") // a refused write must not raise a mark
	return a.err
}

func sharedMarks(ctx context.Context, s suite) error {
	a, b := s.begin(ctx, "a"), s.begin(ctx, "a")
	if err := errors.Join(a.err, b.err); err != nil {
		return err
	}
	a.writes(writer(5), "five")
	b.reads(writer(6), "five")
	a.refusesWrite(writer(5))
	b.writes(writer(6), "six")
	a.refusesRead(reader(5))
	a.reads(reader(8), "six")
	b.refusesWrite(writer(7))
	return errors.Join(a.err, b.err)
}

func separateNames(ctx context.Context, s suite) error {
	names := []string{"a", "A", "a ", " a", "a-", "a/b", "a//b", "b"}
	for i, name := range names {
		a := s.begin(ctx, name)
		a.reads(reader(1), "")
		a.writes(writer(int64(100-i)), name)
		if a.err != nil {
			return fmt.Errorf("%q: %w", name, a.err)
		}
	}
	for i, name := range names {
		a := s.begin(ctx, name)
		a.reads(writer(int64(100-i)), name)
		if a.err != nil {
			return fmt.Errorf("%q: %w", name, a.err)
		}
	}
	return nil
}

func endedContext(ctx context.Context, s suite) error {
	a := s.begin(ctx, "a")
	a.writes(writer(5), "five")
	if a.err != nil {
		return a.err
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.on.Read(ended, writer(9)); err == nil || errors.Is(err, fence.ErrStale) {
		return fmt.Errorf("a read whose context has ended: %w; want the context's error", orNothing(err))
	}
	if err := a.on.Write(ended, writer(9), []byte("nine")); err == nil || errors.Is(err, fence.ErrStale) {
		return fmt.Errorf("a write whose context has ended: %w; want the context's error", orNothing(err))
	}
	return nil
}

// anyOrder makes random calls, and compares their results with [fence.Marks.Admit].
func anyOrder(ctx context.Context, s suite) error {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for world := range 10 {
		r, err := s.register(ctx, fmt.Sprint("world-", world))
		if err != nil {
			return err
		}
		var marks fence.Marks
		var value []byte
		for call := range 40 {
			t := fence.Token{Fence: 1 + rng.Int64N(12) + int64(call)/4, Mode: fence.Mode(rng.IntN(2))}
			write := t.Mode == fence.Writer && rng.IntN(2) == 0
			next, refusal := marks.Admit("", t)
			got, what := []byte(nil), "read"
			if write {
				what = "write"
				got = fmt.Appendf(nil, "%d.%d", world, call)
				err = r.Write(ctx, t, got)
			} else {
				got, err = r.Read(ctx, t)
			}
			switch {
			case err != nil && !errors.Is(err, fence.ErrStale):
			case (err == nil) != (refusal == nil):
				err = fmt.Errorf("the store answers %w; the rule says %w", orNothing(err), orNothing(refusal))
			case err == nil && !write && !bytes.Equal(got, value):
				err = fmt.Errorf("it returned %.60q; want %.60q", got, value)
			default:
				err = nil
			}
			if err != nil {
				return fmt.Errorf("seed %d, call %d: a %s with %s, where the highest writer was %d and the highest reader %d: %w",
					seed, call, what, t, marks.Writer, marks.Reader, err)
			}
			if marks = next; write && refusal == nil {
				value = got
			}
		}
	}
	return nil
}

// orNothing returns err, or the error "no error" if err is nil. It is for the text of a message.
func orNothing(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}
