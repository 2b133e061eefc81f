package waiting

import (
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Share is a lease that several readers of this process use together. The caller of this package implements it.
//
// The first reader in a line bids for the lease. If it wins, it opens a share, and all readers in the line join.
// Readers behind a writer join, too. So a reader waits for the lease of one writer at most, and a writer waits for one
// share at most. A reader that comes later joins the open share for one window at most, and only while no other waiter
// is known. After that, a reader bids again. Its bid then queues behind the writers of other processes.
type Share interface {
	// Reserve adds n users to the share. Each of them asks for its part of the share later. Only the reader that
	// opened the share calls Reserve. That reader is a user, too, so the share cannot end before the call.
	Reserve(n int)
}

// opening is a share that readers may join.
type opening struct {
	share Share
	until clock.Instant // no reader joins at this instant or later
}

// joinable returns the share that a reader may join, or nil. No reader joins while this process has a waiter for the
// name. Otherwise readers could keep the share open for ever, and the waiter would never get the name. The caller
// holds l.mu.
func (l *lines) joinable(name string, reader bool, now clock.Instant) Share {
	if o := l.shares[name]; reader && l.byName[name] == nil && now < o.until {
		return o.share
	}
	return nil
}

// open records a share, and returns the readers of a line that join it. The caller holds l.mu.
func (l *lines) open(ln *line, name string, o opening) (joined []*place) {
	l.register(name, o)
	ln.others = slices.DeleteFunc(ln.others, func(p *place) bool {
		if p.reader {
			p.share = o.share
			joined = append(joined, p)
		}
		return p.reader
	})
	return joined
}

// admit reserves a part of the share for each reader in joined, and ends the waits of these readers.
func (o opening) admit(joined []*place) {
	if len(joined) > 0 {
		o.share.Reserve(len(joined))
	}
	for _, p := range joined {
		close(p.moved)
	}
}

// register notes the share that was opened last for a name. The caller holds l.mu.
func (l *lines) register(name string, o opening) {
	if l.shares == nil {
		l.shares = map[string]opening{}
	}
	l.shares[name] = o
}

// newOpening returns the opening for a share. If a node had another waiter in its queue, no later reader may join.
func (l *Locker) newOpening(s Share, g Grant) opening {
	o := opening{share: s}
	if !g.Others {
		o.until = l.Fan.Now().Add(l.Fan.Set().Window)
	}
	return o
}

// Opened notes a share that a reader opened after a Try, and so without a place in a line.
func (l *Locker) Opened(line string, s Share, g Grant) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	l.lines.register(line, l.newOpening(s, g))
}

// Joinable returns the share that a reader may join at once, or nil.
func (l *Locker) Joinable(line string) Share {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	return l.lines.joinable(line, true, l.Fan.Now())
}

// Closed notes that no reader can join share s any more. If the line has a newer share, that share stays open.
func (l *Locker) Closed(line string, s Share) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	if l.lines.shares[line].share == s {
		delete(l.lines.shares, line)
	}
}
