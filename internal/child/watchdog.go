//go:build unix

package child

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// Watchdog is a process that ends a command's group if this process cannot: because
// it was killed, or stands still past its lock's deadline. It is this same program,
// started with [WatchdogArg], in a session of its own, so that no Ctrl-C and no signal
// to our group reaches it. It reads from a pipe of which only we have the other end:
//
//	group 4711      end this group …
//	until 9000      … if no later deadline comes in within these milliseconds
//	ending          we are ending it ourselves: TERM now, KILL after the grace period
//	bye             it has ended
//
// The end of the pipe without bye means that we are dead.
type Watchdog struct {
	process *os.Process
	report  func(format string, args ...any)
	quit    chan struct{} // closed by dismiss
	wg      sync.WaitGroup

	mu   sync.Mutex
	pipe *os.File // nil once dismissed
}

// WatchdogArg is the first argument of a watchdog, followed by two of [RunWatchdog]. A
// program that calls [StartWatchdog] calls that when it finds it.
const WatchdogArg = "__watchdog"

// StartWatchdog starts the watchdog. It does not wait until it runs, so do it early,
// while there is something else to wait for. In the end, call [Watchdog.Dismiss].
//
// The group of a parent that stands still is ended when the deadline is over for three
// windows, or 200 ms if that is less: the nodes keep the name for longer than four.
func StartWatchdog(grace, window time.Duration, report func(format string, args ...any)) (*Watchdog, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	defer r.Close()
	p, err := os.StartProcess(self, append([]string{os.Args[0], WatchdogArg}, arguments(grace, window)...), &os.ProcAttr{
		Dir: "/", // or it would keep a file system busy
		// Its stderr is ours, because what it has to say belongs there. No stdout: who
		// reads ours would wait for its end.
		Files: []*os.File{r, nil, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	d := &Watchdog{process: p, pipe: w, report: report, quit: make(chan struct{})}
	d.wg.Go(d.reap)
	return d, nil
}

// PID is its process id.
func (d *Watchdog) PID() int { return d.process.Pid }

func (d *Watchdog) reap() {
	state, err := d.process.Wait()
	select {
	case <-d.quit:
	default:
		d.report("the watchdog is gone (%v, %v): if this process is killed, its command goes on unlocked", state, err)
	}
}

// guard names the group and keeps the watchdog informed of its deadline.
func (d *Watchdog) guard(g group, until func() time.Time) {
	if d == nil {
		return
	}
	d.tell("group %d", g)
	if until == nil {
		return
	}
	last := until()
	d.tell("until %d", time.Until(last).Milliseconds())
	d.wg.Go(func() {
		for {
			// A lease is renewed when two thirds of it are left. A quarter of what is left is
			// often enough to keep the watchdog calm, and rare enough to cost nothing.
			select {
			case <-d.quit:
				return
			case <-time.After(min(max(time.Until(last)/4, time.Millisecond), time.Second)):
			}
			// A lease reckons its deadline from the time anew whenever it is asked: what is a
			// few nanoseconds later is the same.
			if now := until(); now.Sub(last) >= time.Millisecond {
				last = now
				d.tell("until %d", time.Until(last).Milliseconds())
			}
		}
	})
}

// ending says that the group is being ended.
func (d *Watchdog) ending() { d.tell("ending") }

func (d *Watchdog) tell(format string, args ...any) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pipe != nil {
		_ = d.write(fmt.Sprintf(format, args...)) // fails if it is gone: reap says so
	}
}

// write writes a line. d.mu is held.
func (d *Watchdog) write(line string) error {
	// If it stands still the pipe fills up, and our own TERM must not wait for it.
	_ = d.pipe.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, err := d.pipe.WriteString(line + "\n")
	return err
}

// dismiss says that the group has ended.
func (d *Watchdog) dismiss() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pipe != nil {
		close(d.quit)
		if d.write("bye") != nil {
			// It stands still, and would take the end of the pipe for our death.
			_ = d.process.Kill()
		}
		_ = d.pipe.Close()
		d.pipe = nil
	}
}

// Dismiss ends the watchdog and waits for its end, but not if it hangs: what it watched
// has ended. It may be called twice, and on nil.
func (d *Watchdog) Dismiss() {
	if d == nil {
		return
	}
	d.dismiss()
	ended := make(chan struct{})
	go func() {
		d.wg.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
		_ = d.process.Kill()
	}
}
