//go:build unix

package childprocess

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestExitIsTheCommands(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		"exit 0":        0,
		"exit 3":        3,
		"exit 255":      255,
		"kill -TERM $$": 128 + int(syscall.SIGTERM),
		"kill -KILL $$": 128 + int(syscall.SIGKILL),
	} {
		c, _ := startScript(t, script, nil)
		<-c.Exited()
		if got := c.Exit().Code(); got != want {
			t.Errorf("sh -c %q: %d, want %d", script, got, want)
		}
		if c.Left() {
			t.Errorf("sh -c %q left somebody behind", script)
		}
	}
}

// The last value of a variable counts, as with os/exec: a setting of a cron file comes after the variables of cron.
func TestTheLastValueOfAVariableCounts(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := Start(Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", `echo "$A $B"`}, Env: []string{"A=first", "B=only", "A=second", "A=third"},
		Stdout: w, Stderr: os.Stderr, Report: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Finish()
	_ = w.Close()
	expect(t, r, "third only")
	<-c.Exited()
}

func TestFindTellsMissingFromNotExecutable(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for name, mode := range map[string]os.FileMode{"plain": 0o644, "script": 0o755} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no #! line"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]error{
		"sh":                        nil,
		"script":                    nil,
		"no-such-command":           ErrNotFound,
		dir + "/no-such-command":    ErrNotFound,
		"plain":                     ErrNotExecutable,
		filepath.Join(dir, "plain"): ErrNotExecutable,
		dir:                         ErrNotExecutable,
	} {
		if _, err := Find(name); !errors.Is(err, want) {
			t.Errorf("Find(%q): %v, want %v", name, err, want)
		}
	}
	path, err := Find("script")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(Command{Path: path, Args: []string{"script"}}); !errors.Is(err, ErrNotExecutable) {
		t.Errorf("start of a file that is no program: %v, want %v", err, ErrNotExecutable)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(Command{Path: path, Args: []string{"script"}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("start of a file that is gone: %v, want %v", err, ErrNotFound)
	}
}

// The kernel's messages for these scripts are "no such file" and "exec format error".
func TestStartSaysWhatIsWrongWithAScript(t *testing.T) { // not parallel, because a fork would keep a script busy
	path := filepath.Join(t.TempDir(), "x")
	for content, want := range map[string]struct {
		is   error
		text string
	}{
		"#!/no/such -x\necho":   {ErrNotFound, `x: its interpreter "/no/such" (the #! line) does not exist`},
		"#! /no/such\t-x":       {ErrNotFound, `x: its interpreter "/no/such" (the #! line) does not exist`},
		"#!/bin/sh\r\necho\r\n": {ErrNotFound, `x: its interpreter "/bin/sh\r" (the #! line) does not exist; its lines end with CR LF`},
		"echo\n":                {ErrNotExecutable, "x: cannot be executed: exec format error: it has no #! line"},
		"":                      {ErrNotExecutable, "x: cannot be executed: exec format error: it has no #! line"},
		"\x7fELF\x00":           {ErrNotExecutable, "x: cannot be executed: exec format error"},
	} {
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(Command{Path: path, Args: []string{"x"}}); !errors.Is(err, want.is) || err.Error() != want.text {
			t.Errorf("%q: %v, want %s", content, err, want.text)
		}
	}
}

func TestSignalsReachTheWholeGroup(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal)
	// The shell's child is a shell with its own traps. Both shells wait with wait, which a trap interrupts.
	c, out := startScript(t, `
		for s in INT TERM HUP QUIT USR1 USR2; do trap "echo $s" $s; done
		(for s in TERM HUP USR1 USR2; do trap "echo $s" $s; done; echo ready; while :; do sleep 60 & wait; done) &
		while :; do wait; done`, signals)
	expect(t, out, "ready")
	for _, s := range []struct {
		sig   syscall.Signal
		name  string
		times int
	}{
		{syscall.SIGHUP, "HUP", 2}, {syscall.SIGTERM, "TERM", 2}, {syscall.SIGUSR1, "USR1", 2}, {syscall.SIGUSR2, "USR2", 2},
		{syscall.SIGINT, "INT", 1}, {syscall.SIGQUIT, "QUIT", 1}, // a shell's background child ignores these signals
	} {
		if signal.Ignored(s.sig) { // nohup ignores HUP, for example, and then a shell cannot trap HUP
			t.Logf("%s is ignored in this process and not looked at", s.name)
			continue
		}
		signals <- s.sig
		for range s.times {
			expect(t, out, s.name)
		}
	}
	c.End(0)
}

func TestEndKillsWhatIgnoresTERM(t *testing.T) {
	t.Parallel()
	c, out := startScript(t, `trap "" TERM; sleep 600 & echo ready; wait`, nil)
	expect(t, out, "ready")
	began := time.Now()
	c.End(200 * time.Millisecond)
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("killed after %s, before its grace was over", took)
	}
	if c.Left() {
		t.Error("somebody is left")
	}
	if got := c.Exit(); got.Signal != syscall.SIGKILL {
		t.Errorf("exit %+v, want SIGKILL", got)
	}
}

// The remaining time of a lock is no round number, so the message for people rounds it.
func TestKillIsReportedInMilliseconds(t *testing.T) {
	t.Parallel()
	c, out := startScript(t, `trap "" TERM; sleep 600 & echo ready; wait`, nil)
	expect(t, out, "ready")
	var said []string
	c.group.end(123456789*time.Nanosecond, func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
	want := fmt.Sprintf("process group %d is still there 123ms after TERM: killing it", c.group)
	if len(said) != 1 || said[0] != want {
		t.Errorf("said %q, want %q", said, want)
	}
}

func TestEndDoesNotWaitForGraceInVain(t *testing.T) {
	t.Parallel()
	c, out := startScript(t, `sleep 600 & echo ready; wait`, nil)
	expect(t, out, "ready")
	began := time.Now()
	c.End(time.Hour)
	if took := time.Since(began); took > patience {
		t.Errorf("a group that obeys TERM took %s", took)
	}
}

func TestEndReachesAStoppedCommand(t *testing.T) {
	t.Parallel()
	// A child of the shell stops it. If the shell stopped itself after "ready", it could do so after End's CONT.
	c, out := startScript(t, `
		trap "echo bye; exit 5" TERM
		(kill -STOP $$; echo ready)
		while :; do sleep 0.01; done`, nil)
	expect(t, out, "ready")
	c.End(patience)
	expect(t, out, "bye")
	if got := c.Exit().Code(); got != 5 {
		t.Errorf("exit %d, want 5", got)
	}
}

func TestWhatACommandLeavesBehindIsSeenAndEnded(t *testing.T) {
	t.Parallel()
	c, out := startScript(t, `(trap "" TERM; echo ready; sleep 600; sleep 600) & exit 7`, nil)
	expect(t, out, "ready")
	<-c.Exited()
	if !c.Left() {
		t.Fatal("nobody is left")
	}
	c.End(50 * time.Millisecond)
	if c.Left() {
		t.Error("somebody is left after End")
	}
	if got := c.Exit().Code(); got != 7 {
		t.Errorf("exit %d, want the command's own 7", got)
	}
}

// A member that forks and ends during a look counts as a zombie, and the look misses its child.
func TestOneLookAtAGroupIsNotBelieved(t *testing.T) {
	type look struct{ running, zombies int }
	for name, c := range map[string]struct {
		looks  []look
		reaped bool // no process is left after these looks
		alive  bool
	}{
		"a member runs":               {[]look{{1, 2}}, false, true},
		"its child was missed":        {[]look{{0, 1}, {1, 1}}, false, true},
		"its child was missed, twice": {[]look{{0, 1}, {0, 2}, {1, 2}}, false, true},
		"only zombies":                {[]look{{0, 2}, {0, 2}}, false, false},
		"one more zombie":             {[]look{{0, 1}, {0, 2}, {0, 2}}, false, false},
		"zombies that are reaped":     {[]look{{0, 1}}, true, false},
		"reaped between the two":      {[]look{{0, 1}, {0, 0}}, true, false},
		"nothing can be seen":         {[]look{{0, 0}}, false, true},
	} {
		left := c.looks
		exists := func() bool { return len(left) > 0 || !c.reaped }
		got := alive(exists, func() (int, int) {
			l := left[0]
			left = left[1:]
			return l.running, l.zombies
		})
		if got != c.alive || len(left) > 0 {
			t.Errorf("%s: alive %v, with %d looks left", name, got, len(left))
		}
	}
}

// In a container without an init, no process reaps orphans. If zombies counted, the wait for the end of such a group
// would never end.
func TestZombiesAreNobody(t *testing.T) {
	t.Parallel()
	if _, zombies := group(syscall.Getpgrp()).members(); zombies == 0 {
		if r, _ := group(syscall.Getpgrp()).members(); r == 0 {
			t.Log("no /proc here: zombies count as members")
			return
		}
	}
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "exit 0"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		t.Fatal(err)
	}
	g := group(p.Pid)
	redistest.Eventually(t, patience, "the group is only a zombie", func() bool { return !g.alive() })
	if err := syscall.Kill(-p.Pid, 0); err != nil {
		t.Errorf("the kernel does not count the zombie: %v", err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if g.alive() {
		t.Error("alive after its last member was reaped")
	}
}
