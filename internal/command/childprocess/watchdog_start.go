//go:build unix

package childprocess

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Watchdog is a process that ends a command's group if this process cannot. This process cannot if it was killed, or if
// it freezes past its lock's deadline. The watchdog is this same program, started with [WatchdogArg]. The watchdog has
// its own session, so Ctrl-C and signals to the group of this process do not reach it. It reads lines from a pipe, and
// only this process has the other end:
//
//	group 4711      end this group; 0: no group any more …
//	until 9000      … if the host's clock is at 9000 ns, and no later deadline has come in
//	ending          this process ends the group itself: TERM now, KILL after the grace period
//	bye             the group has ended
//
// The end of the pipe without bye means that this process is dead.
//
// If a watchdog dies, another one replaces it and gets the same state.
type Watchdog struct {
	grace, window time.Duration
	report        func(format string, args ...any)
	quit          chan struct{} // dismiss closes this channel
	wg            sync.WaitGroup

	mu      sync.Mutex
	process *os.Process
	pipe    *os.File // nil after dismiss, or while there is no watchdog
	over    bool     // dismiss was called
	group   group
	until   string // the last line about the deadline
	end     bool   // this process is ending the group
}

// WatchdogArg is the first argument of a watchdog. Two arguments of [RunWatchdog] follow it. A program that calls
// [StartWatchdog] must call RunWatchdog when it finds this argument.
const WatchdogArg = "__watchdog"

// StartWatchdog starts the watchdog. It does not wait until the watchdog runs, so call it early, during another wait.
// In the end, call [Watchdog.Dismiss].
//
// If this process freezes, the watchdog ends the command's process group three windows after the lock's deadline, or
// 200 ms after it if that is less. The nodes keep the name for more than four windows after the deadline.
//
// report receives messages about a watchdog that died, and about its successor.
func StartWatchdog(grace, window time.Duration, report func(format string, args ...any)) (*Watchdog, error) {
	d := &Watchdog{grace: grace, window: window, report: report, quit: make(chan struct{})}
	if err := d.start(); err != nil {
		return nil, err
	}
	d.wg.Go(d.keep)
	return d, nil
}

// start starts a process and sends it the state of its predecessor. The caller holds d.mu, or no other goroutine uses
// d.
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
		Dir: "/", // in another directory, the watchdog would keep a file system busy
		// The watchdog gets the stderr of this process for its messages. It gets no stdout, because a reader of the
		// stdout of this process would then wait for the watchdog's end.
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
			_ = d.write("ending") // the watchdog counts the grace period from now on, so it is longer, but it ends
		}
	}
	return nil
}

// PID returns the process id of the present watchdog.
func (d *Watchdog) PID() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.process.Pid
}

// again is the pause before the next start if the last watchdog lived for less than that or did not start.
const again = time.Second

// keep waits for the end of the process and replaces it, until dismiss.
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
				d.report("the watchdog died (%s), and no other could be started yet: %v; if this process is killed now, its command goes on without the lock", died, err)
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

// pause waits for t. It returns false if the watchdog was dismissed.
func (d *Watchdog) pause(t time.Duration) bool {
	select {
	case <-d.quit:
		return false
	case <-time.After(t):
		return true
	}
}

// replace starts another process. It returns nil if that succeeded, or if no watchdog is needed any more.
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

// guard names the group, and sends the watchdog its deadlines. It computes the first deadline from n. A later call with
// group 0 ends this.
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
			// A client renews a lease when two thirds of it are left. A pause of a quarter of the remaining time is short enough
			// for the watchdog to see each renewal, and long enough to cost nothing.
			if !d.pause(min(max(last.Sub(clock.Host())/4, time.Millisecond), time.Second)) {
				return
			}
			// A lease computes its deadline again at each call, so a slightly later result is the same deadline.
			if now := note().deadline(until); now.Sub(last) >= time.Millisecond {
				last = now
				if !d.deadline(g, last) {
					return
				}
			}
		}
	})
}

// deadline sends the watchdog a deadline of the group. It returns false if the watchdog no longer watches that group.
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

// ending informs the watchdog that this process is ending the group.
func (d *Watchdog) ending() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end = true
	d.tellLocked("ending")
}

// tellLocked sends a line. The caller holds d.mu.
func (d *Watchdog) tellLocked(line string) {
	if d.pipe != nil {
		_ = d.write(line) // fails if the process is gone, and then keep replaces it
	}
}

// write writes a line. The caller holds d.mu.
func (d *Watchdog) write(line string) error {
	// If the watchdog freezes, the pipe fills up. The TERM for the command must not wait for the watchdog.
	_ = d.pipe.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, err := d.pipe.WriteString(line + "\n")
	return err
}

// dismiss informs the watchdog that the group has ended.
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
			// The watchdog is frozen. Later it would think that the end of the pipe means the death of this process.
			_ = d.process.Kill()
		}
		_ = d.pipe.Close()
		d.pipe = nil
	}
}

// Dismiss ends the watchdog and waits for its end. It does not wait long if the watchdog hangs, because the group has
// ended. A second call, or a call on nil, does no harm.
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
