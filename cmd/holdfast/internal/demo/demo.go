package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// ErrBroken means that the verdict found a broken promise.
var ErrBroken = errors.New("a promise was broken")

// These are the durations of the two halves.
const (
	withoutLock = 2 * time.Second
	withLock    = 17 * time.Second
)

// demo is one run of the demo.
type demo struct {
	dir   string
	cast  *cast
	state *state
	say   func(line string) // prints a line that is not a part of the story

	addrs  [nodes]string
	client *holdfast.Client // asks the nodes whether they vote

	mu        sync.Mutex
	nodes     [nodes]*actor
	workers   [workers]*actor
	journal   *journal         // receives the events that a worker cannot record, such as its death
	recovered bool             // a node that was restarted has voted
	early     []string         // the nodes that voted too early
	notBefore [nodes]time.Time // by node: when a restarted node may vote at the earliest
}

// Run performs the demo and prints it to out. If live is set, it shows a moving picture, otherwise plain lines. The
// error matches [ErrBroken] if a promise was broken. When Run returns, all processes of the demo have ended, even if
// ctx ended.
func Run(ctx context.Context, out *os.File, live bool) error {
	if !supported {
		return errors.New("the demo does not run on this platform; holdfast does")
	}
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the own program: %w", err)
	}
	return perform(ctx, path, out, live)
}

// perform does the work of Run. path is the path of this program, which the processes run.
func perform(ctx context.Context, path string, out *os.File, live bool) error {
	dir, err := os.MkdirTemp("", "holdfast-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{dir: dir, cast: &cast{self: path}}
	defer d.cast.end()
	began := time.Now()
	d.say = func(line string) { fmt.Fprintln(out, line) }

	d.say(fmt.Sprintf("Without a lock: %d processes read a number from a file, add one, and write it back, for %s.", workers, withoutLock))
	lost, err := d.unlocked(ctx)
	if err != nil {
		return err
	}
	d.say("  " + lost.String())
	d.say(fmt.Sprintf("\nWith a lock on %d nodes, each in its own process. Nodes and holders are killed and frozen.", nodes))
	v, err := d.locked(ctx, out, live)
	if err != nil {
		return err
	}
	d.say("")
	v.print(out)
	d.cast.end()
	if !v.kept() {
		d.say(fmt.Sprintf("\nA PROMISE WAS BROKEN. (%.1f s)", time.Since(began).Seconds()))
		return ErrBroken
	}
	d.say(fmt.Sprintf("\nEvery promise was kept. (%.1f s)", time.Since(began).Seconds()))
	return nil
}

// unlocked performs the first half, without a lock.
func (d *demo) unlocked(ctx context.Context) (contrast, error) {
	dir := filepath.Join(d.dir, "without")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return contrast{}, err
	}
	var all []*actor
	for i := range workers {
		a, err := d.cast.worker(role{Worker: i, Dir: dir}, func(string) {})
		if err != nil {
			return contrast{}, err
		}
		all = append(all, a)
	}
	if err := clock.Rest(ctx, withoutLock); err != nil {
		return contrast{}, err
	}
	if err := leaveAll(all); err != nil {
		return contrast{}, err
	}
	return compare(dir)
}

// locked performs the second half, under the lock.
func (d *demo) locked(ctx context.Context, out io.Writer, live bool) (*judgement, error) {
	dir := filepath.Join(d.dir, "with")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if d.journal, err = openJournal(dir); err != nil {
		return nil, err
	}
	defer d.journal.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	view := plain(out)
	if live {
		view = onTerminal(out, keyboard(), cancel)
	}
	d.state = newState(time.Now(), view.line)
	d.state.begin("with the lock")
	view.show(d.state)
	defer view.end()
	if err := d.raise(); err != nil {
		return nil, err
	}
	defer d.client.Close()
	watched, done := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { d.watch(watched) })
	err = d.plot(ctx, dir)
	done()
	watching.Wait()
	if err != nil {
		return nil, err
	}
	if err := leaveAll(d.workers[:]); err != nil {
		return nil, err
	}
	return judge(dir, d.early, d.recovered)
}

// raise starts the nodes, and makes the client that asks them whether they vote.
func (d *demo) raise() error {
	var urls []string
	for i := range nodes {
		d.addrs[i] = freeAddr()
		a, err := d.cast.node(d.addrs[i], false)
		if err != nil {
			return err
		}
		d.nodes[i] = a
		urls = append(urls, "redis://"+d.addrs[i])
	}
	c, err := config(urls)
	if err != nil {
		return err
	}
	d.client, err = holdfast.New(c)
	return err
}

func (d *demo) role(worker int, dir string) role {
	r := role{Worker: worker, Dir: dir}
	for _, addr := range d.addrs {
		r.Nodes = append(r.Nodes, "redis://"+addr)
	}
	return r
}

// hire starts a worker, or a new worker in the place of a killed one.
func (d *demo) hire(worker int, dir string) error {
	a, err := d.cast.worker(d.role(worker, dir), func(line string) { d.state.handleLine(worker, line) })
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.workers[worker] = a
	d.mu.Unlock()
	d.state.worker(worker, waits)
	return nil
}

// keyboard returns standard input if it is a terminal, otherwise nil.
func keyboard() io.Reader {
	if term.IsTerminal(os.Stdin.Fd()) {
		return os.Stdin
	}
	return nil
}

func leaveAll(list []*actor) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, a := range list {
		if a != nil {
			wg.Go(func() { errs[i] = a.leave() })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}
