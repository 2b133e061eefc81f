package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// limit is a physical limit: no lock on Redis with the same commands can be faster. It writes the commands of lock and
// unlock to one pipelining connection per node, for a number of lanes. Each lane locks and unlocks its own name. There
// is no client library, no goroutine per lane, and no timer.
//
// One goroutine per connection reads. It takes all replies that have arrived, lets each lane take its next step, and
// writes the new commands together.
type limit struct {
	wires []*wire
	speak speech
	packs packer // nil: each operation is its own call
}

// packer is a speech that joins several operations in one call.
type packer interface {
	// pack writes the calls for the operations of w.later. The caller holds w.mu.
	pack(w *wire, node int)
}

// speech makes the commands of a limit and reads their replies.
type speech interface {
	// draw begins a cycle of lane.
	draw(lane *lane)
	acquire(out []byte, lane *lane, node int) []byte
	release(out []byte, lane *lane, node int) []byte
	// granted and released read the first bytes of replies.
	granted(reply []byte) bool
	released(reply []byte) bool
}

// wire is one connection.
type wire struct {
	conn net.Conn

	mu    sync.Mutex
	out   []byte
	tags  []tag // the tags of the expected answers, in order
	first int   // the index of the next answer in tags
	later []tag // operations that are not in out yet; the next flush joins them
	many  []int // if operations are joined: the number of answers in each expected reply

	writing sync.Mutex
	spare   []byte
}

// tag names the lane and the step to which a reply belongs.
type tag struct {
	lane *lane
	step uint32
}

// lane is one client that locks and unlocks.
type lane struct {
	id    int
	name  string
	owner string
	// These are the calls of the scripts. They are the same for every node.
	acquire, release nodescript.Call

	mu           sync.Mutex
	step         uint32 // counts the steps; odd while the lane acquires
	yes, no      int
	asked, had   time.Time
	cycles, all  int
	locks, whole histogram
	idle         bool
}

func dialWires(urls []string) (wires []*wire, err error) {
	for _, u := range urls {
		conn, err := net.Dial("tcp", address(u))
		if err != nil {
			return nil, err
		}
		wires = append(wires, &wire{conn: conn})
	}
	return wires, nil
}

func (l *limit) lock(context.Context, string) (func() error, error) {
	return nil, errors.New("a limit makes its own crowd")
}

func (l *limit) close() {
	for _, w := range l.wires {
		_ = w.conn.Close()
	}
}

// round is one slice of a limit.
type round struct {
	*limit
	from, until time.Time
	busy        atomic.Int64 // expected replies
	done        chan struct{}
	once        sync.Once
	err         error
}

func (l *limit) drive(s slice) (outcome, error) {
	r := &round{limit: l, from: s.Begin.Add(s.Warm), done: make(chan struct{})}
	r.until = r.from.Add(s.For)
	lanes := make([]*lane, s.Goroutines)
	for i := range lanes {
		lanes[i] = &lane{id: i, name: fmt.Sprintf("%s/%d", s.Name, i)}
	}
	time.Sleep(time.Until(s.Begin))
	before := ownCPU()
	within := measureCPU(r.from, r.until)

	r.busy.Add(1) // until all lanes have begun
	for _, ln := range lanes {
		ln.mu.Lock()
		r.begin(ln, time.Now())
		ln.mu.Unlock()
	}
	var readers sync.WaitGroup
	for i, w := range l.wires {
		readers.Go(func() { r.read(i, w) })
	}
	r.flush()
	r.answered(1)
	<-r.done
	// This deadline ends the reads in progress. No read loses data, because all replies have come.
	for _, w := range l.wires {
		_ = w.conn.SetReadDeadline(time.Unix(1, 0))
	}
	readers.Wait()
	for _, w := range l.wires {
		_ = w.conn.SetReadDeadline(time.Time{})
	}

	o := outcome{CPU: <-within, Seconds: s.For.Seconds(), CPUAll: ownCPU() - before}
	for _, ln := range lanes {
		o.Cycles = append(o.Cycles, ln.cycles)
		o.All += ln.all
		o.Lock.merge(ln.locks)
		o.Cycle.merge(ln.whole)
	}
	return o, r.err
}

func (r *round) end(err error) { r.once.Do(func() { r.err = err; close(r.done) }) }

func (r *round) answered(n int) {
	if r.busy.Add(-int64(n)) == 0 {
		r.end(nil)
	}
}

// begin sends the acquire of a lane. The caller holds ln.mu.
func (r *round) begin(ln *lane, now time.Time) {
	ln.asked = now
	r.speak.draw(ln)
	r.send(ln, r.speak.acquire)
}

func (r *round) send(ln *lane, say func([]byte, *lane, int) []byte) {
	ln.step++
	ln.yes, ln.no = 0, 0
	r.busy.Add(int64(len(r.wires)))
	for i, w := range r.wires {
		w.mu.Lock()
		if r.packs != nil {
			w.later = append(w.later, tag{ln, ln.step})
		} else {
			w.out = say(w.out, ln, i)
			w.tags = append(w.tags, tag{ln, ln.step})
		}
		w.mu.Unlock()
	}
}

// read gives each reply to its lane. It writes when it has read all replies that have arrived.
func (r *round) read(i int, w *wire) {
	in := bufio.NewReaderSize(w.conn, 64<<10)
	for {
		reply, err := readReply(in)
		if err != nil {
			var end net.Error
			if errors.As(err, &end) && end.Timeout() {
				err = nil
			}
			r.end(err)
			return
		}
		n := 1
		w.mu.Lock()
		if len(w.many) > 0 {
			n = w.many[0]
			w.many = append(w.many[:0], w.many[1:]...)
		}
		w.mu.Unlock()
		give := func(k int, answer string) {
			if err == nil {
				if err = r.move(w.next(), []byte(answer)); err != nil {
					err = fmt.Errorf("node %d: answer %d of %d: %w", i+1, k+1, n, err)
				}
			}
		}
		if n == 1 {
			err = r.move(w.next(), reply)
		} else if !nodescript.Parts(string(reply), n, give) {
			err = fmt.Errorf("node %d: %d answers in %.100q", i+1, n, reply)
		}
		if err != nil {
			r.end(err)
			return
		}
		if in.Buffered() == 0 {
			r.flush()
		}
		r.answered(n)
	}
}

// next takes the tag of the next answer.
func (w *wire) next() tag {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tags[w.first]
	if w.first++; w.first == len(w.tags) {
		w.tags, w.first = w.tags[:0], 0
	} else if w.first > 4096 {
		w.tags, w.first = append(w.tags[:0], w.tags[w.first:]...), 0
	}
	return t
}

// move gives a reply to its lane.
func (r *round) move(t tag, reply []byte) error {
	ln := t.lane
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if t.step != ln.step || ln.idle {
		return nil // a majority has answered before
	}
	acquiring := t.step%2 == 1
	if acquiring && r.speak.granted(reply) || !acquiring && r.speak.released(reply) {
		ln.yes++
	} else if ln.no++; ln.no > len(r.wires)/2 {
		return fmt.Errorf("step %d of lane %q: %q", t.step, ln.name, reply)
	}
	if ln.yes <= len(r.wires)/2 {
		return nil
	}
	now := time.Now()
	if acquiring {
		ln.had = now
		r.send(ln, r.speak.release)
		return nil
	}
	ln.all++
	if now.After(r.from) && !now.After(r.until) {
		ln.cycles++
		ln.locks.add(ln.had.Sub(ln.asked))
		ln.whole.add(now.Sub(ln.asked))
	}
	if now.Before(r.until) {
		r.begin(ln, now)
	} else {
		ln.idle = true
	}
	return nil
}

// flush writes the collected commands of each node with one call.
func (l *limit) flush() {
	for i, w := range l.wires {
		w.mu.Lock()
		if len(w.later) > 0 {
			l.packs.pack(w, i)
		}
		empty := len(w.out) == 0
		w.mu.Unlock()
		if empty {
			continue
		}
		w.writing.Lock()
		w.mu.Lock()
		out := w.out
		w.out = w.spare[:0]
		w.mu.Unlock()
		_, _ = w.conn.Write(out) // the reader gets the error of a broken connection
		w.spare = out
		w.writing.Unlock()
	}
}
