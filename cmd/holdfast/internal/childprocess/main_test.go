//go:build unix

package childprocess

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// patience limits every wait. It is long because two cores may run a whole test suite under the race detector.
const patience = 20 * time.Second

// The test binary is also the watchdog. In tests that kill or freeze the parent of a command, it is also that parent.
func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // with this setting, children end in time
	if len(os.Args) > 2 && os.Args[1] == WatchdogArg {
		os.Exit(RunWatchdog(os.Args[2:], os.Stdin, os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == StarterArg {
		if os.Getenv(wanders) != "" {
			wander()
		}
		chdir = hangs
		os.Exit(RunStarter(os.Args[2:], os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == "parent" {
		os.Exit(parent(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// wanders is the environment variable that makes a starter call wander.
const wanders = "HOLDFAST_TEST_WANDERS"

// wander moves the main goroutine to another thread, if it is not locked to one.
var wander = func() {}

// parent does the work of `holdfast run`, with a lock that is always free.
func parent(args []string) int {
	flags := flag.NewFlagSet("parent", flag.ExitOnError)
	watched := flags.Bool("watchdog", true, "")
	grace := flags.Duration("grace", time.Second, "")
	window := flags.Duration("window", time.Second, "")
	valid := flags.Duration("valid", time.Hour, "how long the lock is; renewed if -renew")
	renew := flags.Bool("renew", false, "")
	stall := flags.Bool("stall", false, "stand still when the starter has been started")
	lose := flags.Bool("lose", false, "notice that the lock is over, and end the command")
	wandering := flags.Bool("wander", false, "the starter's main function leaves its first thread, if it can")
	_ = flags.Parse(args)
	env := os.Environ()
	if *wandering {
		env = append(env, wanders+"=yes")
	}
	report := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, slices.Concat(Ending, JobControl)...)
	path, err := Find(flags.Arg(0))
	if err != nil {
		panic(err)
	}
	until := time.Now().Add(*valid)
	cmd := Command{
		Path: path, Args: flags.Args(), Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Signals: signals, Report: report,
		Until: func() time.Time {
			if *stall {
				fmt.Println("stalled")
				select {}
			}
			if *renew {
				return time.Now().Add(*valid)
			}
			return time.Now().Add(time.Until(until)) // computed again at each call, as a lease does
		},
	}
	if *watched {
		if cmd.Watchdog, err = StartWatchdog(*grace, *window, report); err != nil {
			panic(err)
		}
		fmt.Println("watchdog", cmd.Watchdog.PID())
	}
	c, err := Start(cmd)
	if err != nil {
		panic(err)
	}
	fmt.Println("process", os.Getpid())
	fmt.Println("group", int(c.group))
	var over <-chan time.Time
	if *lose {
		over = time.After(time.Until(until)) // as a lease ends, even if the start took long
	}
	select {
	case <-over:
		c.End(*grace)
	case <-c.Exited():
	}
	if c.Left() {
		c.End(*grace)
	}
	c.Finish()
	if c.tty != nil {
		now, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
		fmt.Println("in the foreground again:", err == nil && now == syscall.Getpgrp())
	}
	cmd.Watchdog.Dismiss()
	if by := c.EndedBy(); by != 0 {
		fmt.Println("ended by", by)
	}
	fmt.Println("finished", c.Exit().Code())
	c.Relay()
	if c.Exit().Signal == syscall.SIGINT && OnTerminal() {
		Interrupt()
	}
	return c.Exit().Code()
}

// family is a parent process under test. It collects the output of the parent and of its command.
type family struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	heard []string // lines that no call has taken yet
}

func startParent(t *testing.T, args ...string) *family {
	t.Helper()
	f := &family{t: t, cmd: exec.Command(os.Args[0], append([]string{"parent"}, args...)...)}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	f.cmd.Stdout, f.cmd.Stderr = w, w
	f.start(r)
	_ = w.Close()
	return f
}

func (f *family) start(out io.ReadCloser) {
	f.t.Helper()
	if err := f.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.lines = make(chan string, 1000)
	go func() {
		defer close(f.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			f.lines <- strings.TrimRight(s.Text(), "\r")
		}
	}()
	f.t.Cleanup(func() {
		_ = f.cmd.Process.Kill()
		_ = f.cmd.Wait()
		_ = out.Close()
	})
}

// until waits for a line that contains what, and returns the text after it. The lines come from several processes, so
// their order does not matter.
func (f *family) until(what string) string {
	f.t.Helper()
	late := time.After(patience)
	for i := 0; ; i++ {
		if i == len(f.heard) {
			select {
			case line, ok := <-f.lines:
				if !ok {
					f.t.Fatalf("ended before it said %q", what)
				}
				f.t.Logf("said: %s", line)
				f.heard = append(f.heard, line)
			case <-late:
				f.t.Fatalf("did not say %q", what)
			}
		}
		if _, rest, ok := strings.Cut(f.heard[i], what); ok {
			f.heard = slices.Delete(f.heard, i, i+1)
			return strings.TrimSpace(rest)
		}
	}
}

// ended waits until no process that could print is left.
func (f *family) ended() {
	f.t.Helper()
	late := time.After(patience)
	for {
		select {
		case line, ok := <-f.lines:
			if !ok {
				return
			}
			f.t.Logf("said: %s", line)
			f.heard = append(f.heard, line)
		case <-late:
			f.t.Fatal("did not end")
		}
	}
}

// never fails the test if a line that no call has taken yet contains what.
func (f *family) never(what string) {
	f.t.Helper()
	for _, line := range f.heard {
		if strings.Contains(line, what) {
			f.t.Errorf("said %q", line)
		}
	}
}

func (f *family) pid(what string) int {
	f.t.Helper()
	n, err := strconv.Atoi(f.until(what))
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// startScript starts a shell script in this process.
func startScript(t *testing.T, script string, signals <-chan os.Signal) (*Child, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	sh, err := Find("sh")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Start(Command{
		Path: sh, Args: []string{"sh", "-c", script}, Env: os.Environ(), Stdout: w, Stderr: os.Stderr,
		Signals: signals, Report: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() {
		_ = c.group.signal(syscall.SIGKILL)
		<-c.Exited()
		c.Finish()
		_ = r.Close()
	})
	return c, r
}

// expect reads one line, within a minute.
func expect(t *testing.T, r *os.File, want string) {
	t.Helper()
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	var line []byte
	for {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			t.Fatalf("read %q, then %v; want %q", line, err, want)
		}
		if b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	if string(line) != want {
		t.Fatalf("read %q, want %q", line, want)
	}
}

// send sends a signal to one process. It refuses the numbers 0, 1 and below, with which the kernel would send it to
// a group or to all processes, for example to the one that runs the tests.
func send(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("%d is no process of this test, so it does not get %s", pid, sig)
	}
	_ = syscall.Kill(pid, sig)
}

// runs reports whether the process runs. A zombie does not run.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func gone(t *testing.T, within time.Duration, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		redistest.Eventually(t, within, fmt.Sprintf("process %d is gone", pid), func() bool { return !runs(pid) })
	}
}
