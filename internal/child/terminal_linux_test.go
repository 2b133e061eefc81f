package child

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// onTerminal starts a parent whose controlling terminal is a pseudo-terminal, with
// itself in the foreground, as a shell would.
func onTerminal(t *testing.T, stdoutToo bool, args ...string) (f *family, keyboard *os.File) {
	t.Helper()
	return programOnTerminal(t, stdoutToo, exec.Command(os.Args[0], append([]string{"parent"}, args...)...))
}

func programOnTerminal(t *testing.T, stdoutToo bool, cmd *exec.Cmd) (f *family, keyboard *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	f = &family{t: t, cmd: cmd}
	f.cmd.Stdin, f.cmd.Stdout, f.cmd.Stderr = slave, slave, slave
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if stdoutToo {
		f.start(master)
		return f, master
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f.cmd.Stdout, f.cmd.Stderr = w, w
	f.start(r)
	return f, master
}

func (f *family) state() string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", f.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest[:min(1, len(rest))]
}

const reads = `echo ready; read x; echo got $x; exit 3`

func TestCommandReadsFromTheTerminal(t *testing.T) {
	t.Parallel()
	for name, stdoutToo := range map[string]bool{"at once": true, "when it wants to": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, keyboard := onTerminal(t, stdoutToo, "sh", "-c", reads)
			f.until("ready")
			if _, err := keyboard.WriteString("hello\n"); err != nil {
				t.Fatal(err)
			}
			f.until("got hello")
			f.until("in the foreground again: true")
			f.until("finished 3")
		})
	}
}

func TestInterruptKeyReachesTheCommandOnce(t *testing.T) {
	t.Parallel()
	for name, stdoutToo := range map[string]bool{"in the foreground": true, "through its parent": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, keyboard := onTerminal(t, stdoutToo, "sh", "-c",
				`n=0; trap 'n=$((n+1))' INT; echo ready; while [ $n = 0 ]; do sleep 0.01; done; sleep 0.1; echo interrupts $n; exit $n`)
			f.until("ready")
			if _, err := keyboard.WriteString("\x03"); err != nil {
				t.Fatal(err)
			}
			f.until("finished 1")
		})
	}
}

// shellOnTerminal starts a script in which "$0" is the program that runs parents.
func shellOnTerminal(t *testing.T, shell string, stdoutToo bool, script string) (f *family, keyboard *os.File) {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Fatalf("%v: apt-get install %s", err, shell)
	}
	return programOnTerminal(t, stdoutToo, exec.Command(shell, "-c", script, os.Args[0]))
}

// One that deals with INT ends neither its parent nor a script.
const (
	dies  = `"$0" parent sh -c 'echo ready; exec sleep 600'; echo after $?; `
	deals = `"$0" parent sh -c 'trap "exit 7" INT; echo ready; sleep 600 & wait'; echo after $?; `
)

func TestKeyEndsTheScript(t *testing.T) {
	t.Parallel()
	nested := strings.Replace(dies, "parent", `parent "$0" parent`, 1)
	for name, c := range map[string]struct {
		shell, script string
		lent          bool // or the shell's group is the foreground
		key           string
		want          syscall.Signal
	}{
		"bash":                 {"bash", dies, true, "\x03", syscall.SIGINT},
		"bash in foreground":   {"bash", dies, false, "\x03", syscall.SIGINT},
		"bash, nested":         {"bash", nested, true, "\x03", syscall.SIGINT},
		"bash under bash":      {"bash", `bash -c '` + strings.ReplaceAll(dies, "'", `'\''`) + `' "$0"; echo after the inner $?`, true, "\x03", syscall.SIGINT},
		"sh":                   {"sh", dies, true, "\x03", syscall.SIGINT},
		"sh, Ctrl-\\":          {"sh", `ulimit -c 0; ` + dies, true, "\x1c", syscall.SIGQUIT},
		"sh in the foreground": {"sh", dies, false, "\x03", syscall.SIGINT},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, keyboard := shellOnTerminal(t, c.shell, c.lent, c.script+"echo the end")
			for range strings.Count(c.script, " parent ") {
				f.until("group ") // it has lent the terminal
			}
			f.until("ready")
			if _, err := keyboard.WriteString(c.key); err != nil {
				t.Fatal(err)
			}
			f.ended()
			f.never("after")
			f.never("the end")
			_ = f.cmd.Wait()
			if got := f.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != c.want {
				t.Errorf("the shell ended with %s, want %s", f.cmd.ProcessState, c.want)
			}
		})
	}
}

func TestScriptGoesOnWhereItWouldWithoutUs(t *testing.T) {
	t.Parallel()
	key := func(t *testing.T, _ *family, keyboard *os.File) {
		if _, err := keyboard.WriteString("\x03"); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		script    string
		interrupt func(t *testing.T, f *family, keyboard *os.File)
		want      string
	}{
		"the command deals with the key": {deals, key, "after 7"},
		"the script deals with the key":  {`trap "echo trapped" INT; ` + dies, key, "trapped"},
		"it was no key": {strings.Replace(dies, `"$0"`, `sh -c 'echo parent $$; exec "$0" "$@"' "$0"`, 1),
			func(_ *testing.T, f *family, _ *os.File) { _ = syscall.Kill(f.pid("parent "), syscall.SIGINT) }, "after 130"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, keyboard := shellOnTerminal(t, "bash", true, c.script+"echo the end")
			f.until("group ") // it has lent the terminal
			f.until("ready")
			c.interrupt(t, f, keyboard)
			f.until(c.want)
			f.until("the end")
		})
	}
}

func TestSuspendKeySuspendsBothAndContinueContinues(t *testing.T) {
	t.Parallel()
	for name, stdoutToo := range map[string]bool{"in the foreground": true, "through its parent": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, keyboard := onTerminal(t, stdoutToo, "sh", "-c", reads)
			f.until("ready")
			if _, err := keyboard.WriteString("\x1a"); err != nil {
				t.Fatal(err)
			}
			redistest.Eventually(t, patience, "the parent is stopped", func() bool { return f.state() == "T" })
			_ = f.cmd.Process.Signal(syscall.SIGCONT)
			if _, err := keyboard.WriteString("again\n"); err != nil {
				t.Fatal(err)
			}
			f.until("got again")
			f.until("finished 3")
		})
	}
}

func TestSuspendedPastItsLockItNeverRunsOn(t *testing.T) {
	t.Parallel()
	f, keyboard := onTerminal(t, true, "-valid=500ms", "-renew", "-grace=100ms", "sh", "-c",
		// Not a loop: a shell that is about to start something when the stop comes waits
		// in vfork, where nobody can see that it is stopped; its own shell would hang, too.
		`trap 'echo told to end; exit 9' TERM; sleep 600 & echo ready; wait`)
	f.until("ready")
	if _, err := keyboard.WriteString("\x1a"); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, patience, "the parent is stopped", func() bool { return f.state() == "T" })
	f.until("stands still")
	f.until("told to end")
	_ = f.cmd.Process.Signal(syscall.SIGCONT)
	f.until("finished 9")
	f.never("stands still")
}

// A shell that continues a job late finds its command gone, and hears of that once.
func TestContinuedLateItIsNotToldAgainThatItStoodStill(t *testing.T) {
	t.Parallel()
	f, keyboard := onTerminal(t, true, "-valid=500ms", "-lose", "-grace=2s", "sh", "-c", `echo ready; sleep 600`)
	f.until("ready")
	g := f.pid("group ")
	if _, err := keyboard.WriteString("\x1a"); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, patience, "the parent is stopped", func() bool { return f.state() == "T" })
	f.until("stands still")
	redistest.Eventually(t, patience, "the group is gone", func() bool { return !group(g).alive() })
	_ = f.cmd.Process.Signal(syscall.SIGCONT)
	f.until("finished 143")
	f.never("stands still")
}

// A command that somebody stops while nobody could continue us keeps its lock.
func TestStoppedCommandDoesNotStopItsParent(t *testing.T) {
	t.Parallel()
	f := startParent(t, "-valid=300ms", "-renew", "sh", "-c", `echo command $$; kill -STOP $$; exit 8`)
	command := f.pid("command ")
	redistest.Eventually(t, patience, "the command is stopped", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", command))
		return strings.Contains(string(stat), ") T ")
	})
	if s := f.state(); s == "T" {
		t.Error("the parent is stopped as well")
	}
	_ = syscall.Kill(command, syscall.SIGCONT)
	f.until("finished 8")
}

// Nobody may work without the lock, not for the instant until TERM comes either.
func TestCommandIsNotContinuedAfterItsLock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		until time.Time
		want  bool // it runs on
	}{
		"valid": {time.Now().Add(time.Hour), true},
		"over":  {time.Now().Add(-time.Second), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sh, err := Find("sh")
			if err != nil {
				t.Fatal(err)
			}
			signals := make(chan os.Signal)
			child, err := Start(Command{
				Path: sh, Args: []string{"sh", "-c", "sleep 600 & wait"}, Env: os.Environ(), Signals: signals,
				Until: func() time.Time { return c.until },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer child.Finish()
			defer child.End(0)
			stopped := func() bool {
				stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", int(child.group)))
				return strings.Contains(string(stat), ") T ")
			}
			_ = syscall.Kill(-int(child.group), syscall.SIGSTOP)
			redistest.Eventually(t, patience, "it is stopped", stopped)
			signals <- syscall.SIGCONT
			signals <- syscall.SIGWINCH // ignored, but taken only after CONT was dealt with
			if c.want {
				redistest.Eventually(t, patience, "it runs on", func() bool { return !stopped() })
			} else if !stopped() {
				t.Error("it runs on without its lock")
			}
		})
	}
}
