package childprocess

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/pty"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// onTerminal starts a parent whose controlling terminal is a pseudo-terminal. The parent is in the foreground, as after
// a start by a shell.
func onTerminal(t *testing.T, stdoutToo bool, args ...string) (f *family, keyboard *os.File) {
	t.Helper()
	return programOnTerminal(t, stdoutToo, exec.Command(os.Args[0], append([]string{"parent"}, args...)...))
}

func programOnTerminal(t *testing.T, stdoutToo bool, cmd *exec.Cmd) (f *family, keyboard *os.File) {
	t.Helper()
	master, slave := pty.Open(t)
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

// state returns the state of a process as ps shows it, "" if there is no such process.
func state(pid int) string {
	if fields := stat(strconv.Itoa(pid)); len(fields) > 0 {
		return fields[0]
	}
	return ""
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

// shellOnTerminal starts a script. In the script, "$0" is the program that runs parents.
func shellOnTerminal(t *testing.T, shell string, stdoutToo bool, script string) (f *family, keyboard *os.File) {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Fatalf("%v: apt-get install %s", err, shell)
	}
	return programOnTerminal(t, stdoutToo, exec.Command(shell, "-c", script, os.Args[0]))
}

// dies is a command that dies of INT. deals is a command that handles INT, so it must end neither its parent nor a
// script.
const (
	dies  = `"$0" parent sh -c 'echo ready; exec sleep 600'; echo after $?; `
	deals = `"$0" parent sh -c 'trap "exit 7" INT; echo ready; sleep 600 & wait'; echo after $?; `
)

func TestKeyEndsTheScript(t *testing.T) {
	t.Parallel()
	nested := strings.Replace(dies, "parent", `parent "$0" parent`, 1)
	for name, c := range map[string]struct {
		shell, script string
		lent          bool // false: the shell's group is the foreground group
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
				f.until("group ") // the parent has lent the terminal
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
			func(t *testing.T, f *family, _ *os.File) { send(t, f.pid("parent "), syscall.SIGINT) }, "after 130"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, keyboard := shellOnTerminal(t, "bash", true, c.script+"echo the end")
			f.until("group ") // the parent has lent the terminal
			f.until("ready")
			c.interrupt(t, f, keyboard)
			f.until(c.want)
			f.until("the end")
		})
	}
}

// underJobControl starts a script in a shell that gives each command its own group, and the terminal, as an interactive
// shell does. For that the stderr of the shell must be the terminal.
func underJobControl(t *testing.T, stdoutToo bool, script string) (f *family, keyboard *os.File) {
	t.Helper()
	return shellOnTerminal(t, "bash", stdoutToo, "exec 2>/dev/tty; set -m; "+script)
}

func press(t *testing.T, keyboard *os.File, keys string) {
	t.Helper()
	if _, err := keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

const suspendKey = "\x1a"

// foreground waits until the process is the leader of the terminal's foreground group, and is not stopped. A command
// that wants to read is stopped, gets the terminal, and is continued. SIGCONT would undo the stop by a key before it.
func foreground(t *testing.T, keyboard *os.File, pid int) {
	t.Helper()
	redistest.Eventually(t, patience, "it has the terminal", func() bool {
		now, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPGRP)
		return err == nil && now == pid && state(pid) != "T"
	})
}

// If the key does not stop a script or an outer run, this process continues to wait, and no shell takes the terminal
// back.
func TestSuspendKeyStopsTheWholeJobAndContinueContinues(t *testing.T) {
	t.Parallel()
	const inScript = `sh -c '"$0" parent "$@"; exit $?' "$0" `
	for name, command := range map[string]string{
		"alone":                `"$0" parent `,
		"nested":               `"$0" parent "$0" parent `,
		"nested twice":         `"$0" parent "$0" parent "$0" parent `,
		"in a script":          inScript,
		"in a script, nested":  inScript + `"$0" parent `,
		"in a script of a run": `"$0" parent ` + inScript,
	} {
		for how, c := range map[string]struct {
			stdoutToo bool
			reads     bool // the command reads, so it gets the terminal even if its stdout is no terminal
		}{
			"lent at once":       {true, true},
			"lent when it reads": {false, true},
			"through its parent": {false, false},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				script := `sh -c 'trap "exit 3" CONT; sleep 600 & echo ready $$; wait'`
				if c.reads {
					script = `sh -c 'echo ready $$; read x </dev/tty; echo got $x; exit 3'`
				}
				f, keyboard := underJobControl(t, c.stdoutToo, command+script+`; echo stopped $?; read go; fg; echo ended $?`)
				for range strings.Count(command, " parent ") {
					f.until("group ")
				}
				pid := f.pid("ready ")
				if c.reads {
					foreground(t, keyboard, pid)
				}
				press(t, keyboard, suspendKey)
				f.until("stopped 148")
				for range strings.Count(command, " parent ") {
					parent := f.pid("process ") // the shell knows only its own child
					redistest.Eventually(t, patience, "the parent is stopped", func() bool { return state(parent) == "T" })
				}
				press(t, keyboard, "\n")
				if c.reads {
					foreground(t, keyboard, pid) // the shell may read text that is typed earlier

					press(t, keyboard, "again\n")
					f.until("got again")
				}
				f.until("ended 3")
			})
		}
	}
}

// The kernel does not stop a group that no process could continue. Holdfast does not stop it either.
func TestSuspendKeyIsNothingWhereNobodyCouldContinue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stdoutToo bool
		nested    []string
	}{
		"lent at once":          {true, nil},
		"lent when it reads":    {false, nil},
		"nested":                {true, []string{os.Args[0], "parent"}},
		"nested, when it reads": {false, []string{os.Args[0], "parent"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, keyboard := onTerminal(t, c.stdoutToo, append(c.nested, "sh", "-c", `echo ready $$; read x; echo got $x; exit 3`)...)
			for range 1 + len(c.nested)/2 {
				f.until("group ")
			}
			pid := f.pid("ready ")
			for range 2 {
				foreground(t, keyboard, pid)
				press(t, keyboard, suspendKey)
			}
			press(t, keyboard, "more\n")
			f.until("got more")
			f.until("in the foreground again: true")
			f.until("finished 3")
		})
	}
}

func TestSuspendedPastItsLockItNeverRunsOn(t *testing.T) {
	t.Parallel()
	f, keyboard := underJobControl(t, true, `"$0" parent -valid=500ms -renew -grace=100ms sh -c '
		# Not a loop: a shell that is about to start something when the stop comes waits
		# in vfork, where nobody can see that it is stopped; its own shell would hang, too.
		trap "echo told to end; exit 9" TERM; sleep 600 & echo ready; wait'; echo stopped $?; read x; fg`)
	f.until("group ")
	f.until("ready")
	press(t, keyboard, suspendKey)
	f.until("stopped 148")
	f.until("is frozen")
	f.until("told to end")
	press(t, keyboard, "\n")
	f.until("finished 9")
	f.never("is frozen")
}

// A shell that continues a job late finds that its command has ended. It gets only one message about that.
func TestContinuedLateItIsNotToldAgainThatItStoodStill(t *testing.T) {
	t.Parallel()
	f, keyboard := underJobControl(t, true,
		`"$0" parent -valid=2s -lose -grace=2s sh -c 'sleep 600 & echo ready; wait'; echo stopped $?; read x; fg`)
	f.until("ready")
	g := f.pid("group ")
	press(t, keyboard, suspendKey)
	f.until("stopped 148")
	f.until("is frozen")
	redistest.Eventually(t, patience, "the group is gone", func() bool { return !group(g).alive() })
	press(t, keyboard, "\n")
	f.until("finished 143")
	f.never("is frozen")
}

// Ctrl-C on the lent terminal never passes through holdfast.
func TestKeyOfTheLentTerminalIsKnownToHaveEndedTheCommand(t *testing.T) {
	t.Parallel()
	f, keyboard := onTerminal(t, true, "sh", "-c", `echo ready; exec sleep 600`)
	f.until("group ")
	f.until("ready")
	press(t, keyboard, "\x03")
	f.until("ended by interrupt")
}

// A user stops a command while no process could continue holdfast. The command keeps its lock.
func TestStoppedCommandDoesNotStopItsParent(t *testing.T) {
	t.Parallel()
	f := startParent(t, "-valid=300ms", "-renew", "sh", "-c", `echo command $$; kill -STOP $$; exit 8`)
	command := f.pid("command ")
	redistest.Eventually(t, patience, "the command is stopped", func() bool { return state(command) == "T" })
	if state(f.cmd.Process.Pid) == "T" {
		t.Error("the parent is stopped as well")
	}
	send(t, command, syscall.SIGCONT)
	f.until("finished 8")
}

// No command may work without the lock, not even in the time until TERM comes.
func TestCommandIsNotContinuedAfterItsLock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left time.Duration // the remaining time of the lock when the command is continued
		want bool          // the command runs on
	}{
		"valid": {time.Hour, true},
		"over":  {-time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sh, err := Find("sh")
			if err != nil {
				t.Fatal(err)
			}
			signals := make(chan os.Signal)
			var left atomic.Int64
			left.Store(int64(time.Hour))
			child, err := Start(Command{
				Path: sh, Args: []string{"sh", "-c", "sleep 600 & wait"}, Env: os.Environ(), Signals: signals,
				Until: func() time.Time { return time.Now().Add(time.Duration(left.Load())) },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer child.Finish()
			defer child.End(0)
			left.Store(int64(c.left))
			stopped := func() bool { return state(int(child.group)) == "T" }
			_ = syscall.Kill(-int(child.group), syscall.SIGSTOP)
			redistest.Eventually(t, patience, "it is stopped", stopped)
			signals <- syscall.SIGCONT
			signals <- syscall.SIGWINCH // the command ignores WINCH, but it is taken only after CONT was handled
			if c.want {
				redistest.Eventually(t, patience, "it runs on", func() bool { return !stopped() })
			} else if !stopped() {
				t.Error("it runs on without its lock")
			}
		})
	}
}
