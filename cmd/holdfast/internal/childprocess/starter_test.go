//go:build unix

package childprocess

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// starting starts a command that makes a file. It returns Start's error, and whether the file exists after all
// processes have ended.
func starting(t *testing.T, until func() time.Time) (error, bool) {
	t.Helper()
	touch, err := Find("touch")
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(t.TempDir(), "ran")
	c, err := Start(Command{Path: touch, Args: []string{"touch", mark}, Env: os.Environ(), Stderr: os.Stderr, Until: until, Report: t.Logf})
	if err == nil {
		<-c.Exited()
		c.Finish()
	}
	_, missing := os.Stat(mark)
	return err, missing == nil
}

func TestACommandDoesNotBeginPastItsDeadline(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(d) } }
	if err, ran := starting(t, in(time.Hour)); err != nil || !ran {
		t.Errorf("with an hour left: %v, ran %v", err, ran)
	}
	if err, ran := starting(t, in(-time.Nanosecond)); !errors.Is(err, ErrLate) || ran {
		t.Errorf("too late: %v, ran %v; want %v", err, ran, ErrLate)
	}
	if err, ran := starting(t, func() time.Time { return time.Time{} }); !errors.Is(err, ErrLate) || ran {
		t.Errorf("of a lease that has ended: %v, ran %v; want %v", err, ran, ErrLate)
	}
}

// The parent freezes after it has checked the lock. So the command's own process must check again.
func TestACommandDoesNotBeginAfterItsParentStoodStill(t *testing.T) {
	t.Parallel()
	const valid = 300 * time.Millisecond
	until := time.Now().Add(valid)
	err, ran := starting(t, func() time.Time {
		answer := until // a parent that is stopped after it has read the deadline behaves like this
		time.Sleep(time.Until(until))
		return answer
	})
	if !errors.Is(err, ErrLate) || ran {
		t.Errorf("%v, ran %v; want %v", err, ran, ErrLate)
	}
}

// If a client renews the lock while the starter begins slowly, the new deadline counts.
func TestASlowStarterHasTheDeadlineThatTheLockHasThen(t *testing.T) {
	t.Parallel()
	s, theirs := &starter{noted: note()}, &starter{}
	var err error
	if theirs.orders, s.orders, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	if s.verdicts, theirs.verdicts, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	asked := 0
	go func() {
		order, _ := bufio.NewReader(theirs.orders).ReadString('\n')
		at, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(order, "go ")), 10, 64)
		if left := clock.Instant(at).Sub(clock.Host()); left < time.Minute {
			t.Errorf("it was given %s", left)
		}
		_, _ = io.WriteString(theirs.verdicts, "exec\n")
		theirs.close()
	}()
	begun, late, err := s.release(t.Context(), func() time.Time {
		switch asked++; {
		case asked < 4:
			return time.Now().Add(time.Millisecond)
		case asked == 4:
			_, _ = io.WriteString(theirs.verdicts, "ready\n")
		}
		return time.Now().Add(time.Hour)
	})
	if !begun || late || err != nil || asked < 4 {
		t.Errorf("begun %v, late %v, %v, asked %d times", begun, late, err, asked)
	}
}

// The starter itself freezes until the lock has ended. Its parent ends it. Without the parent, the starter would not
// begin the command either.
func TestACommandDoesNotBeginAfterItsStarterStoodStill(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Log("no /proc here: the starter cannot be found")
		return
	}
	dir := t.TempDir()
	mark := filepath.Join(dir, "ran")
	until := time.Now().Add(2 * time.Second)
	stopped := 0
	_, err := Start(Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", "touch " + mark}, Env: os.Environ(), Stderr: os.Stderr, Report: t.Logf,
		Until: func() time.Time {
			if stopped == 0 {
				// A moment after the start, the kernel may not show the new arguments yet.
				redistest.Eventually(t, patience, "the starter is there", func() bool { stopped = starterOf(mark); return stopped != 0 })
				send(t, stopped, syscall.SIGSTOP)
			}
			return until
		},
	})
	if _, missing := os.Stat(mark); !errors.Is(err, ErrLate) || missing == nil || stopped <= 1 {
		t.Errorf("%v, ran %v, stopped %d; want %v", err, missing == nil, stopped, ErrLate)
	}
	gone(t, patience, stopped)
}

// starterOf returns the starter whose arguments contain a text, or 0.
func starterOf(text string) int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		b, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if bytes.Contains(b, []byte("\x00"+StarterArg+"\x00")) && bytes.Contains(b, []byte(text)) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			return pid
		}
	}
	return 0
}

// The starter relies only on the host's clock.
func TestAStarterLooksAtTheClockLast(t *testing.T) {
	t.Parallel()
	for order, want := range map[string]string{
		fmt.Sprintf("go %d\n", clock.Host()):                "exec\nlate\n",
		fmt.Sprintf("go %d\n", clock.Host().Add(time.Hour)): "exec\n",
		fmt.Sprintf("go %d", clock.Host().Add(time.Hour)):   "", // the parent died while it wrote this message
		"go\n":                     "",
		"go 1 2\n":                 "",
		"":                         "",
		fmt.Sprintf("%d\n", 1<<62): "",
	} {
		mark := filepath.Join(t.TempDir(), "ran")
		s, pid, err := startStarter(Command{
			Path: "/bin/sh", Args: []string{"sh", "-c", "touch " + mark}, Env: os.Environ(),
		}, &syscall.SysProcAttr{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.orders.WriteString(order); err != nil {
			t.Fatal(err)
		}
		_ = s.orders.Close()
		got, err := io.ReadAll(s.verdicts)
		if want = "ready\n" + want; string(got) != want || err != nil {
			t.Errorf("%q: said %q, %v; want %q", order, got, err, want)
		}
		p, _ := os.FindProcess(pid)
		_, _ = p.Wait()
		if _, missing := os.Stat(mark); (missing == nil) != (want == "ready\nexec\n") {
			t.Errorf("%q: ran %v", order, missing == nil)
		}
		s.close()
	}
}

func TestStarterIsNotForPeople(t *testing.T) {
	t.Parallel()
	devnull, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer devnull.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(self, []string{os.Args[0], StarterArg, "x"}, &os.ProcAttr{Files: []*os.File{devnull, devnull, w}})
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(r)
	state, err := p.Wait()
	if err != nil || state.ExitCode() != 64 || !strings.Contains(string(said), "not for people") {
		t.Errorf("%v, %v: %q", state, err, said)
	}
}

// If a parent dies before its go message, no process is left and no command has run.
func TestAStarterEndsWithItsParent(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "ran")
	f := startParent(t, "-stall", "-watchdog=false", "touch", mark)
	f.until("stalled")
	starter := 0
	redistest.Eventually(t, patience, "there is a starter", func() bool { starter = starterOf(mark); return starter != 0 })
	_ = f.cmd.Process.Kill()
	gone(t, patience, starter)
	if _, missing := os.Stat(mark); missing == nil {
		t.Error("the command ran")
	}
}
