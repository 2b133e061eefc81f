package fanout

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Stamp draws a stamp for an acquire. It also returns the instant at which it drew the stamp.
func (f *Fanout) Stamp() (int64, clock.Instant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	stamp, err := f.time.Stamp(now)
	f.refused(err, now)
	return stamp, now, err
}

// refused starts a reading of the clocks in the background after a stamp could not be drawn. The caller holds f.mu.
func (f *Fanout) refused(err error, now clock.Instant) {
	if err != nil && f.time.Known() {
		f.readAgain(now) // the clocks may be right again by now
	}
}

// offClock notes that a node refused a stamp, after the node's clock was read. If the stamp may be wrong because the
// other clocks were read long ago, offClock starts a reading of all clocks.
func (f *Fanout) offClock(node int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.Now(); f.time.Outdated(node, now) {
		f.readAgain(now)
	}
}

// readAgain starts a reading of the clocks in the background, at most once in rereadEvery. The caller holds f.mu.
func (f *Fanout) readAgain(now clock.Instant) {
	if f.reread == 0 || now.Sub(f.reread) >= rereadEvery {
		f.readSoon()
	}
}

// admission returns a stamp for an admission, and the largest difference that the node's clock may have from it. If
// the last reading of the clocks is not good enough, for example after the host was suspended, admission first reads
// them again.
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

// keepTime starts a reading of the clocks from time to time, even while the client has no work. Without this, the
// client would find a move of the clocks only when work comes. It could then draw no good stamps until the move
// settles, which takes MaxTTL + W. No caller waits for keepTime.
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
	f.reader = f.AfterFunc(min(wait, checkEvery), f.keepTime)
}

const (
	// missedEvery is the pause before the next reading of the clocks if too few nodes answered.
	missedEvery = 10 * time.Second
	// checkEvery is the longest pause between two checks whether a reading is due. It is short because a timer does not
	// run while the host is suspended.
	checkEvery = time.Minute
)

// readSoon starts a reading of the clocks in the background, unless one is under way. The caller holds f.mu.
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

// catchUp waits for a new reading of the clocks if the last one is too old to draw a stamp. This is the case after the
// host was suspended, or after no node answered for long.
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

// rereadEvery is the pause between two readings of the clocks while a move settles and a caller wants a stamp, or while
// a node refuses stamps. While a move settles, the client sends no other message that would show that the clocks are
// right again. They may be right long before the move settles, and waiters should not wait longer than necessary.
const rereadEvery = time.Second

// StampHeld draws a stamp for a renewal.
func (f *Fanout) StampHeld() (int64, clock.Instant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	return f.time.StampHeld(now), now
}

// StampAt converts an instant into stamp time. It draws no stamp.
func (f *Fanout) StampAt(i clock.Instant) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.time.StampAt(i)
}

// Raise makes all later stamps higher than seen, a token that a node has seen.
func (f *Fanout) Raise(seen int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.time.Raise(seen, f.Now())
}

// Offset returns the difference between a node's clock and the majority's clock at the last reading. It returns false
// if that difference is unknown.
func (f *Fanout) Offset(node int) (time.Duration, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.time.Offset(node)
}

// read adds readings of the nodes' clocks to the time base.
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
				f.reader = f.AfterFunc(min(checkEvery, f.time.Unread(f.Now())), f.keepTime)
			}
		}
	}
}

// readAll reads the clocks of all nodes. A node that answers late is left out: the longer the round trip, the less
// exact the reading.
func (f *Fanout) readAll() {
	readings := make([]quorum.Reading, f.N())
	var wait sync.WaitGroup
	for i, v := range f.voters {
		wait.Go(func() {
			_, readings[i], _ = v.hello(f.hear, min(f.config.Timeout, quorum.LongestTrip(f.config.Set.Window))+f.Delay())
		})
	}
	wait.Wait()
	f.read(readings...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reread = f.Now()
}
