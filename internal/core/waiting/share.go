package waiting

import (
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Share is a lease that several readers of this process use together. The caller of the package keeps it.
//
// The first reader of a line bids. If it wins, it opens a share, and all readers behind it in the line join, also those
// behind a writer. So a reader waits for one lease of a writer at most, and a writer for one share at most. Readers that
// come later join while nobody is known to wait, and for a window at most. After that, a reader bids again, and so it
// finds the writers of other processes.
type Share interface {
	// Reserve adds n users, which ask for their part of the share later. The reader that opened the share calls Reserve.
	// That reader is a user of the share itself, so the share cannot end before the call.
	Reserve(n int)
}

// opening is a share that readers may join.
type opening struct {
	share Share
	until clock.Instant // nobody joins later
}

// joinable returns the share that a reader joins, or nil. Nobody joins while somebody waits in this process: the share
// must end for it. The caller holds l.mu.
func (l *lines) joinable(name string, reader bool, now clock.Instant) Share {
	if o := l.shares[name]; reader && l.byName[name] == nil && now < o.until {
		return o.share
	}
	return nil
}

// open opens a share and returns the readers of a line that join it. The caller holds l.mu.
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

// admit ends the waits of the readers that join a share.
func (o opening) admit(joined []*place) {
	if len(joined) > 0 {
		o.share.Reserve(len(joined))
	}
	for _, p := range joined {
		close(p.turn)
	}
}

// register notes the share that readers opened last. The caller holds l.mu.
func (l *lines) register(name string, o opening) {
	if l.shares == nil {
		l.shares = map[string]opening{}
	}
	l.shares[name] = o
}

// opens returns the share of a grant. Nobody joins it later if a node has another waiter.
func (l *Locker) opens(s Share, g Grant) opening {
	o := opening{share: s}
	if !g.Others {
		o.until = l.Fan.Now().Add(l.Fan.Set().Window)
	}
	return o
}

// Opened notes a share that a reader opened without a place in a line, after a Try.
func (l *Locker) Opened(line string, s Share, g Grant) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	l.lines.register(line, l.opens(s, g))
}

// Joinable returns the share that a reader without a place in a line may join, or nil.
func (l *Locker) Joinable(line string) Share {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	return l.lines.joinable(line, true, l.Fan.Now())
}

// Closed notes that nobody can join a share any more. A newer share of the line stays.
func (l *Locker) Closed(line string, s Share) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	if l.lines.shares[line].share == s {
		delete(l.lines.shares, line)
	}
}
