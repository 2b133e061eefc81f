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

// Watchdog is a process that ends a command's group if this process cannot do it: because this process was killed, or
// because it is frozen past the deadline of its lock. The watchdog runs this same program, with the argument
// [WatchdogArg]. It has its own session, so Ctrl-C and signals to the group of this process do not reach it. It reads
// lines from a pipe, and only this process can write to that pipe:
//
//	group 4711      end this group; 0: there is no group any more …
//	until 9000      … when the host's clock is at 9000 ns, unless a later deadline has come
//	ending          this process ends the group itself: it sent TERM now, and sends KILL after the grace period
//	bye             the group has ended
//
// If the pipe ends without bye, this process is dead.
//
// If a watchdog dies, this process starts another one and sends it the same state.
type Watchdog struct {
	grace, window time.Duration
	report        func(format string, args ...any)
	quit          chan struct{} // dismiss closes this channel
	wg            sync.WaitGroup

	mu      sync.Mutex
	process *os.Process
	pipe    *os.File // nil after dismiss, and while there is no watchdog
	over    bool     // dismiss was called
	group   group
	until   string // the last line about a deadline
	end     bool   // this process is ending the group
}

// WatchdogArg is the first argument of a watchdog. Two arguments for [RunWatchdog] follow it. A program that calls
// [StartWatchdog] must call RunWatchdog if its first argument is WatchdogArg.
const WatchdogArg = "__watchdog"

// StartWatchdog starts a watchdog. It does not wait until the watchdog runs. So call it early, for example before the
// wait for the lock, and it costs no time. In the end, call [Watchdog.Dismiss].
//
// If this process freezes, the watchdog begins to end the command's group three windows after the lock's deadline, but
// at most 200 ms after it: it sends TERM, and KILL after grace. The nodes keep the name for more than four windows
// after the deadline. So no other client gets it before TERM.
//
// report receives a message when a watchdog has died, and when another one has replaced it.
func StartWatchdog(grace, window time.Duration, report func(format string, args ...any)) (*Watchdog, error) {
	d := &Watchdog{grace: grace, window: window, report: report, quit: make(chan struct{})}
	if err := d.start(); err != nil {
		return nil, err
	}
	d.wg.Go(d.keep)
	return d, nil
}

// start starts a watchdog and sends it the state of the last one. The caller holds d.mu, or no other goroutine uses d.
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
		// The watchdog writes its messages to the stderr of this process. It does not get stdout: otherwise a program
		// that reads the output of this process to its end would wait for the end of the watchdog.
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
			_ = d.write("ending") // the watchdog counts the grace period from now on, so the group gets more time, but it is ended
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

// again is the pause before the next start if the last watchdog has died at once, or could not start.
const again = time.Second

// keep waits for the end of the watchdog and starts another one, until dismiss is called.
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

// pause waits for t. It returns false if dismiss was called.
func (d *Watchdog) pause(t time.Duration) bool {
	select {
	case <-d.quit:
		return false
	case <-time.After(t):
		return true
	}
}

// replace starts another watchdog. It returns nil if that succeeded, or if dismiss was called.
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

// guard tells the watchdog the group, and from then on each new deadline. It computes the first deadline from n. To
// end this, call guard with group 0.
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
			// A client renews a lease when about two thirds of it are left. With a pause of a quarter of the remaining
			// time, this goroutine sees each renewal early enough, and uses hardly any processor.
			if !d.pause(min(max(last.Sub(clock.Host())/4, time.Millisecond), time.Second)) {
				return
			}
			// The deadline of a lease is computed anew at each call. So a result that is later by less than 1 ms is
			// the same deadline.
			if now := note().deadline(until); now.Sub(last) >= time.Millisecond {
				last = now
				if !d.deadline(g, last) {
					return
				}
			}
		}
	})
}

// deadline tells the watchdog a deadline of the group. It returns false if the watchdog does not watch this group any
// more.
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

// ending tells the watchdog that this process is ending the group.
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
		_ = d.write(line) // fails if the watchdog is gone; then keep replaces it
	}
}

// write writes a line. The caller holds d.mu.
func (d *Watchdog) write(line string) error {
	// If the watchdog is frozen, the pipe gets full. The TERM for the command must not wait for that.
	_ = d.pipe.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, err := d.pipe.WriteString(line + "\n")
	return err
}

// dismiss tells the watchdog that the group has ended.
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
			// The watchdog is frozen, so end it. If it ran again later, the end of the pipe would look like the death
			// of this process.
			_ = d.process.Kill()
		}
		_ = d.pipe.Close()
		d.pipe = nil
	}
}

// Dismiss ends the watchdog and waits for its end, but not for long, because the group has ended. A second call and a
// call on nil are no-ops.
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
