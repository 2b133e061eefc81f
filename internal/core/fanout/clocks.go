package fanout

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Stamp draws a stamp for an acquire. It also returns the instant of the drawing.
func (f *Fanout) Stamp() (int64, clock.Instant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	stamp, err := f.time.Stamp(now)
	f.refused(err, now)
	return stamp, now, err
}

// refused reads the clocks in the background if no stamp could be drawn, at most once in rereadEvery. The caller holds
// f.mu.
func (f *Fanout) refused(err error, now clock.Instant) {
	if err != nil && f.time.Known() && (f.reread == 0 || now.Sub(f.reread) >= rereadEvery) {
		f.readSoon() // the clocks may be right again
	}
}

// admission returns a stamp for an admission, and the largest distance of the node's clock from it. If the clocks are
// not known well enough, for example after the host was suspended, admission reads the clocks first.
func (f *Fanout) admission() (stamp int64, within time.Duration, err error) {
	for tries := 0; ; tries++ {
		f.mu.Lock()
		now, off := f.Now(), quorum.Unsettled{}
		stamp, within, err = f.time.Admission(now)
		again := tries == 0 && errors.As(err, &off) && (off.Off > 0 || off.Unread > 0)
		if !again {
			f.refused(err, now)
		}
		f.mu.Unlock()
		if !again {
			return stamp, within, err
		}
		f.readAll()
	}
}

// keepTime starts a reading of the clocks now and then, even while the client has no work. Otherwise the first stamps
// of later work could be wrong, and the client might not follow the correction for MaxTTL + W. No caller waits for
// keepTime.
func (f *Fanout) keepTime() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	wait := f.time.Unread(f.Now())
	if wait == 0 {
		f.readSoon()
		wait = min(missedEvery, quorum.ReadEvery(f.config.Set.Window))
	}
	f.reader = time.AfterFunc(min(wait, lookEvery), f.keepTime)
}

const (
	// missedEvery is the pause before the next reading of the clocks if too few nodes answered.
	missedEvery = 10 * time.Second
	// lookEvery is the longest pause between two checks whether the clocks must be read. It is short because a timer
	// does not run while the host is suspended.
	lookEvery = time.Minute
)

// readSoon reads the clocks in the background, unless a reading is under way. The caller holds f.mu.
func (f *Fanout) readSoon() {
	if !f.reading && !f.closed {
		f.reading, f.wasRead = true, make(chan struct{})
		f.wait.Go(func() {
			f.readAll()
			f.mu.Lock()
			defer f.mu.Unlock()
			f.reading = false
			close(f.wasRead)
		})
	}
}

// catchUp reads the clocks and waits for the result if the last reading is too old to draw a stamp. The last reading is
// too old after the host was suspended or the nodes were away.
func (f *Fanout) catchUp(ctx context.Context) {
	f.mu.Lock()
	if f.closed || !f.time.Overdue(f.Now()) {
		f.mu.Unlock()
		return
	}
	f.readSoon()
	read := f.wasRead
	f.mu.Unlock()
	select {
	case <-read:
	case <-ctx.Done():
	}
}

// rereadEvery is the pause between two readings of the clocks while a move of the clocks settles and a caller wants a
// stamp. No other message shows during that time that the clocks are right again. The clocks may be right long before
// the move settles.
const rereadEvery = time.Second

// StampHeld draws a stamp for a renewal.
func (f *Fanout) StampHeld() (int64, clock.Instant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	return f.time.StampHeld(now), now
}

// StampAt returns the stamp time of an instant.
func (f *Fanout) StampAt(i clock.Instant) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.time.StampAt(i)
}

// Raise makes later stamps larger than a token that a node has seen.
func (f *Fanout) Raise(seen int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.time.Raise(seen, f.Now())
}

// Offset returns the distance of a node's clock from the majority's clock at the last reading. It returns false if the
// distance is unknown.
func (f *Fanout) Offset(node int) (time.Duration, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.time.Offset(node)
}

// read gives readings of nodes' clocks to the time base.
func (f *Fanout) read(readings ...quorum.Reading) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.time.Read(f.Now(), readings...)
	if f.time.Known() {
		select {
		case <-f.settled:
		default:
			close(f.settled)
			if !f.closed {
				f.reader = time.AfterFunc(min(lookEvery, f.time.Unread(f.Now())), f.keepTime)
			}
		}
	}
}

// readAll reads the clocks of all nodes that answer soon enough. A late answer is too inexact to tell a node's time.
func (f *Fanout) readAll() {
	readings := make([]quorum.Reading, f.N())
	var wait sync.WaitGroup
	for i, v := range f.voters {
		wait.Go(func() {
			_, readings[i], _ = v.hello(f.hear, min(f.config.Timeout, quorum.LongestTrip(f.config.Set.Window)))
		})
	}
	wait.Wait()
	f.read(readings...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reread = f.Now()
}
