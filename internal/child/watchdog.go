//go:build unix

package child

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
)

// Watchdog is a process that ends a command's group if this process cannot: because
// it was killed, or stands still past its lock's deadline. It is this same program,
// started with [WatchdogArg], in a session of its own, so that no Ctrl-C and no signal
// to our group reaches it. It reads from a pipe of which only we have the other end:
//
//	group 4711      end this group; 0: none any more …
//	until 9000      … if the host's clock is at 9000 ns, and no later deadline has come in
//	ending          we are ending it ourselves: TERM now, KILL after the grace period
//	bye             it has ended
//
// The end of the pipe without bye means that we are dead.
//
// A watchdog that dies is replaced, and its successor is told what it knew.
type Watchdog struct {
	grace, window time.Duration
	report        func(format string, args ...any)
	quit          chan struct{} // closed by dismiss
	wg            sync.WaitGroup

	mu      sync.Mutex
	process *os.Process
	pipe    *os.File // nil once dismissed, or while there is none
	over    bool     // dismissed
	group   group
	until   string // the last line about it
	end     bool   // we are ending the group
}

// WatchdogArg is the first argument of a watchdog, followed by two of [RunWatchdog]. A
// program that calls [StartWatchdog] calls that when it finds it.
const WatchdogArg = "__watchdog"

// StartWatchdog starts the watchdog. It does not wait until it runs, so do it early,
// while there is something else to wait for. In the end, call [Watchdog.Dismiss].
//
// The group of a parent that stands still is ended when the deadline is over for three
// windows, or 200 ms if that is less: the nodes keep the name for longer than four.
//
// Report is told of a watchdog that died, and of the one that took its place.
func StartWatchdog(grace, window time.Duration, report func(format string, args ...any)) (*Watchdog, error) {
	d := &Watchdog{grace: grace, window: window, report: report, quit: make(chan struct{})}
	if err := d.start(); err != nil {
		return nil, err
	}
	d.wg.Go(d.keep)
	return d, nil
}

// start starts a process and tells it what the one before it knew. d.mu is held, or nobody else knows d.
func (d *Watchdog) start() error {
	self, err := self()
	if err != nil {
		return fmt.Errorf("start the watchdog: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the watchdog: %w", err)
	}
	defer r.Close()
	p, err := os.StartProcess(self, append([]string{os.Args[0], WatchdogArg}, arguments(d.grace, d.window)...), &os.ProcAttr{
		Dir: "/", // or it would keep a file system busy
		// Its stderr is ours, because what it has to say belongs there. No stdout: who
		// reads ours would wait for its end.
		Files: []*os.File{r, nil, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = w.Close()
		return fmt.Errorf("start the watchdog: %w", err)
	}
	d.process, d.pipe = p, w
	if d.group != 0 {
		_ = d.write(fmt.Sprintf("group %d", d.group))
		if d.until != "" {
			_ = d.write(d.until)
		}
		if d.end {
			_ = d.write("ending") // it counts the grace from now on, which is longer, but not for ever
		}
	}
	return nil
}

// PID is the process id of the one that watches now.
func (d *Watchdog) PID() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.process.Pid
}

// again is how long it takes until the next one is started, if the one before it did not live for so long, or could
// not be started.
const again = time.Second

// keep waits for the process's end and replaces it, until dismissed.
func (d *Watchdog) keep() {
	for began := time.Now(); ; {
		state, err := d.current().Wait()
		died := fmt.Sprint(state)
		if err != nil {
			died = err.Error()
		}
		if d.dismissed() {
			return
		}
		if time.Since(began) < again && !d.pause(again) {
			return
		}
		for said := false; ; {
			began = time.Now()
			err := d.replace(died)
			if err == nil {
				break
			}
			if !said {
				d.report("the watchdog died (%s) and cannot be replaced yet: %v; if this process is killed now, its command goes on without the lock", died, err)
				said = true
			}
			if !d.pause(again) {
				return
			}
		}
	}
}

func (d *Watchdog) current() *os.Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.process
}

func (d *Watchdog) dismissed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// pause waits, and reports whether there is still something to watch.
func (d *Watchdog) pause(t time.Duration) bool {
	select {
	case <-d.quit:
		return false
	case <-time.After(t):
		return true
	}
}

// replace starts another one. A nil error means that it was, or that nobody needs it any more.
func (d *Watchdog) replace(died string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return nil
	}
	if d.pipe != nil {
		_ = d.pipe.Close()
		d.pipe = nil
	}
	old := d.process.Pid
	if err := d.start(); err != nil {
		return err
	}
	d.report("the watchdog, process %d, died (%s): process %d takes its place", old, died, d.process.Pid)
	return nil
}

// guard names the group and keeps the watchdog informed of its deadline, which is reckoned from n at first. Group 0
// ends that.
func (d *Watchdog) guard(g group, until func() time.Time, n noted) {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.group, d.until, d.end = g, "", false
	d.tellLocked(fmt.Sprintf("group %d", g))
	d.mu.Unlock()
	if until == nil {
		return
	}
	at := n.deadline(until)
	d.deadline(g, at)
	d.wg.Go(func() {
		for last := at; ; {
			// A lease is renewed when two thirds of it are left. A quarter of what is left is
			// often enough to keep the watchdog calm, and rare enough to cost nothing.
			if !d.pause(min(max(last.Sub(clock.Host())/4, time.Millisecond), time.Second)) {
				return
			}
			// A lease reckons its deadline from the time anew whenever it is asked: what is a
			// little later is the same.
			if now := note().deadline(until); now.Sub(last) >= time.Millisecond {
				last = now
				if !d.deadline(g, last) {
					return
				}
			}
		}
	})
}

// deadline tells the watchdog of a deadline of the group, and reports whether it still watches that.
func (d *Watchdog) deadline(g group, at clock.Instant) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.group != g {
		return false
	}
	d.until = fmt.Sprintf("until %d", at)
	d.tellLocked(d.until)
	return true
}

// ending says that the group is being ended.
func (d *Watchdog) ending() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end = true
	d.tellLocked("ending")
}

// tellLocked sends a line. d.mu is held.
func (d *Watchdog) tellLocked(line string) {
	if d.pipe != nil {
		_ = d.write(line) // fails if it is gone: keep sees to that
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
	if d.over {
		return
	}
	d.over = true
	close(d.quit)
	if d.pipe != nil {
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
		_ = d.current().Kill()
	}
}
