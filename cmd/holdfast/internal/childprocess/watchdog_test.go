//go:build unix

package childprocess

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// grown is a script that prints its own process id and the id of its child. Both processes ignore the signals in
// $IGNORED.
const grown = `trap "" $IGNORED; sleep 600 & echo command $$; echo grandchild $!; wait; sleep 600`

func familyOf(t *testing.T, ignored string, args ...string) (f *family, command, grandchild int) {
	t.Helper()
	f = startParent(t, append(args, "sh", "-c", strings.ReplaceAll(grown, "$IGNORED", ignored))...)
	command = f.pid("command ")
	grandchild = f.pid("grandchild ")
	f.until("group ") // the watchdog knows the group now
	endLater(t, command, grandchild)
	return f, command, grandchild
}

// endLater ends these processes at the end of the test. It fails the test if one of them is still running.
func endLater(t *testing.T, pids ...int) {
	t.Helper()
	t.Cleanup(func() {
		for _, pid := range pids {
			if runs(pid) {
				t.Errorf("process %d was left behind", pid)
				send(t, pid, syscall.SIGKILL)
			}
		}
	})
}

func TestKilledParentTakesItsGroupAlong(t *testing.T) {
	t.Parallel()
	for name, ignored := range map[string]string{"obedient": "USR1", "stubborn": "TERM"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, command, grandchild := familyOf(t, ignored, "-grace=300ms")
			_ = f.cmd.Process.Kill()
			f.until("holdfast was killed")
			gone(t, patience, command, grandchild)
		})
	}
}

func TestKilledParentsGroupDoesNotOutliveTheLock(t *testing.T) {
	t.Parallel()
	f, command, grandchild := familyOf(t, "TERM", "-grace=1h", "-valid=2s")
	began := time.Now()
	_ = f.cmd.Process.Kill()
	gone(t, patience, command, grandchild)
	// The grace period is an hour, so only the end of the lock can be the reason.
	t.Logf("gone %s after the kill", time.Since(began))
}

func TestFrozenParentLosesItsCommandWithTheLock(t *testing.T) {
	t.Parallel()
	f, command, grandchild := familyOf(t, "TERM", "-grace=100ms", "-valid=2s", "-renew")
	began := time.Now()
	_ = f.cmd.Process.Signal(syscall.SIGSTOP)
	f.until("is frozen")
	gone(t, patience, command, grandchild)
	if took := time.Since(began); took < 1200*time.Millisecond {
		t.Errorf("gone after %s, while the lock was valid", took)
	}
	_ = f.cmd.Process.Signal(syscall.SIGCONT)
	f.until("finished 137")
}

// tolerant prints a line when it gets TERM, and continues.
const tolerant = `trap "echo told to end" TERM; echo command $$; while :; do sleep 0.02; done`

func TestLostLockEndsItsCommandOnce(t *testing.T) {
	t.Parallel()
	f := startParent(t, "-grace=1h", "-valid=2s", "-lose", "sh", "-c",
		// The command needs a second to clean up; the watchdog would act after 200 ms.
		`trap "echo told to end" TERM; sleep 600 & wait; for i in $(seq 50); do sleep 0.02; done; exit 3`)
	f.until("told to end")
	f.until("finished 3")
	f.never("told to end")
	f.never("watchdog: ")
}

func TestFrozenParentThatWasEndingItsCommandLosesIt(t *testing.T) {
	t.Parallel()
	f := startParent(t, "-grace=2s", "-valid=2s", "-lose", "sh", "-c", tolerant)
	command := f.pid("command ")
	endLater(t, command)
	f.until("told to end")
	_ = f.cmd.Process.Signal(syscall.SIGSTOP)
	f.until("watchdog: process group")
	gone(t, patience, command)
	_ = f.cmd.Process.Signal(syscall.SIGCONT)
	f.until("finished 137")
	f.never("told to end")
	f.never("is frozen")
}

func TestKilledParentThatWasEndingItsCommandKeepsToTheGrace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args  []string
		kill  string // kill the parent when the command prints this
		least time.Duration
	}{
		// No other holder can have begun, because the remaining processes end with the lock.
		"the lock is valid": {[]string{"-grace=1h", "-valid=2s", "-renew", "sh", "-c", `
			trap "exit 0" USR1
			(trap "echo told to end" TERM; sh -c 'echo command $PPID'; kill -USR1 $$; while :; do sleep 0.02; done) &
			while :; do wait; done`}, "told to end", 0},
		// The watchdog gets the deadline while it starts, so for the watchdog the lock may end a little later.
		"the lock is over": {[]string{"-grace=5s", "-valid=2s", "-lose", "sh", "-c", `
			trap "echo told to end; sleep 0.3; echo goes on" TERM
			echo command $$; while :; do sleep 0.02; done`}, "goes on", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startParent(t, c.args...)
			command := f.pid("command ")
			endLater(t, command)
			f.until(c.kill)
			began := time.Now()
			_ = f.cmd.Process.Kill()
			f.until("holdfast was killed")
			gone(t, patience, command)
			if took := time.Since(began); took < c.least {
				t.Errorf("gone after %s", took)
			}
		})
	}
}

func TestRenewedLockKeepsTheCommand(t *testing.T) {
	t.Parallel()
	f := startParent(t, "-valid=2s", "-renew", "sh", "-c", "sleep 5; exit 4")
	f.until("finished 4")
}

func TestAWatchdogThatDiesIsReplaced(t *testing.T) {
	t.Parallel()
	f, command, grandchild := familyOf(t, "TERM", "-grace=300ms")
	dog := f.pid("watchdog ")
	for range 2 { // the second watchdog has lived for less than a second
		send(t, dog, syscall.SIGKILL)
		next, _, _ := strings.Cut(f.until(fmt.Sprintf("the watchdog, process %d, died (signal: killed): process ", dog)), " ")
		var err error
		if dog, err = strconv.Atoi(next); err != nil {
			t.Fatal(err)
		}
	}
	_ = f.cmd.Process.Kill()
	f.until("holdfast was killed")
	gone(t, patience, command, grandchild)
}

func TestWatchdogEndsWithItsParentsWork(t *testing.T) {
	t.Parallel()
	f := startParent(t, "sh", "-c", "exit 0")
	dog := f.pid("watchdog ")
	f.until("finished 0")
	gone(t, patience, dog)
}

// A user who ends all processes called holdfast must not end the watchdog first.
func TestWatchdogIgnoresSignalsMeantForItsParent(t *testing.T) {
	t.Parallel()
	f := startParent(t, "sh", "-c", `trap "" TERM INT HUP; echo command $$; while :; do sleep 0.05; done`)
	dog, command := f.pid("watchdog "), f.pid("command ")
	f.until("group ")
	if runtime.GOOS == "linux" { // the process has just been started, so wait for its setup
		redistest.Eventually(t, patience, "it ignores TERM", func() bool { return ignores(dog, syscall.SIGTERM) })
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		send(t, dog, sig)
	}
	_ = f.cmd.Process.Kill()
	f.until("holdfast was killed")
	gone(t, patience, command)
}

func ignores(pid int, sig syscall.Signal) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, mask, _ := strings.Cut(string(status), "SigIgn:\t")
	mask, _, _ = strings.Cut(mask, "\n")
	bits, _ := strconv.ParseUint(mask, 16, 64)
	return bits&(1<<(sig-1)) != 0
}

func TestDeathSignalIsThereWithoutAWatchdog(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux has a parent-death signal")
		return
	}
	t.Parallel()
	f := startParent(t, "-watchdog=false", "sh", "-c", `trap "" TERM; echo command $$; while :; do sleep 0.05; done`)
	command := f.pid("command ")
	endLater(t, command)
	_ = f.cmd.Process.Kill()
	gone(t, patience, command)
}

// The nodes keep the name for more than four windows. A watchdog that acts soon after the deadline leaves the command
// most of that time to end.
func TestWatchdogIsNoLaterThanThreeWindows(t *testing.T) {
	for _, c := range []struct{ window, late time.Duration }{
		{5 * time.Millisecond, 15 * time.Millisecond}, {250 * time.Millisecond, latest}, {time.Minute, latest},
	} {
		grace, late, err := durations(arguments(time.Hour, c.window))
		if grace != time.Hour || late != c.late || err != nil {
			t.Errorf("with a window of %s: grace %s, late %s, %v; want %s", c.window, grace, late, err, c.late)
		}
		synctest.Test(t, func(t *testing.T) {
			w := &watch{grace: grace, late: late, now: clock.Monotonic(), report: t.Logf}
			in := make(chan string)
			go w.follow(in)
			in <- fmt.Sprintf("group %d", math.MaxInt32) // there is no such group, so nothing is ended
			in <- "until 400000000"
			time.Sleep(400*time.Millisecond + c.late - time.Microsecond)
			synctest.Wait()
			if w.group == 0 {
				t.Errorf("with a window of %s: too early", c.window)
			}
			in <- "means nothing" // the watchdog ignores this line, but the race detector needs it
			time.Sleep(2 * time.Microsecond)
			synctest.Wait()
			if w.group != 0 {
				t.Errorf("with a window of %s: not in time", c.window)
			}
			in <- "bye"
		})
	}
}

// A frozen watchdog reads nothing, and the messages to it fill the pipe.
func TestWatchdogThatStandsStillDelaysNobody(t *testing.T) {
	t.Parallel()
	dog, err := StartWatchdog(time.Second, time.Second, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer dog.Dismiss()
	defer func() { _ = dog.process.Signal(syscall.SIGCONT) }()
	_ = dog.process.Signal(syscall.SIGSTOP)
	told := make(chan struct{})
	go func() {
		defer close(told)
		dog.mu.Lock()
		dog.tellLocked(strings.Repeat("x", 1<<20)) // more than a pipe can contain
		dog.mu.Unlock()
		dog.ending()
	}()
	select {
	case <-told:
	case <-time.After(patience):
		t.Error("its parent waits for it")
	}
}

func TestWatchdogIsNotForPeople(t *testing.T) {
	var stderr bytes.Buffer
	if code := RunWatchdog([]string{"", "1s"}, os.Stdin, &stderr); code != 64 || stderr.Len() == 0 {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
}

// BenchmarkStartWatchdog measures the time that a run spends before it can ask for its lock. The rest of the watchdog's
// start happens during the wait for the lock.
func BenchmarkStartWatchdog(b *testing.B) {
	var took time.Duration
	for b.Loop() {
		began := time.Now()
		w, err := StartWatchdog(time.Second, time.Second, b.Logf)
		if err != nil {
			b.Fatal(err)
		}
		took += time.Since(began)
		w.Dismiss()
	}
	b.ReportMetric(float64(took.Microseconds())/float64(b.N), "µs-to-go-on/op")
}
