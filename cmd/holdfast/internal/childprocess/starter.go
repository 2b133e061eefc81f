//go:build unix

package childprocess

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// A command starts in two steps. The first step is the starter, a process that runs this same program. It already has
// the process id, group, files and environment of the command. It waits for one message, checks the lock's deadline,
// and becomes the command with exec. So there is only one system call between the last check and the command. Even if
// the parent freezes anywhere and for any time, the command does not begin without the lock. The watchdog knows the
// group before the command can do anything.
//
// The starter itself goes to the folder of the command. The parent must not name that folder to the system call that
// starts a process. Until the new process has become its program, the system stops the parent. If a file server hangs,
// that lasts, and the parent can neither start another process nor collect garbage.
//
// The starter reads one message from a pipe:
//
//	go 4711       become the command, unless the host's clock is at 4711 ns or later
//
// The starter writes its messages to another pipe. A successful exec closes that pipe:
//
//	chdir 2       the starter cannot enter the folder of the command, and ends
//	ready         the starter is waiting for its message; until then, which may take long, the lock is renewed
//	exec          the starter got the message …
//	late          … and did not try to exec, because the deadline has passed
//	errno 2       … and tried to exec, and failed

// The pipes get the first file descriptors that the command does not inherit. So file descriptors that the command
// expects keep their numbers, such as sockets of systemd, the job server of make, or files of a script.

// StarterArg is the first argument of a starter. The arguments for [RunStarter] follow it. A program that calls
// [Start] must call RunStarter if its first argument is StarterArg.
const StarterArg = "__start"

// forever is the deadline of a command without a deadline.
const forever = clock.Instant(1<<63 - 1)

// ErrLate means that the lock was lost before the command could begin. The command did not run.
var ErrLate = errors.New("the lock was lost before the command could begin")

// A starter's main function stays on the thread with which the process began. Linux stores the parent-death signal per
// thread, and exec keeps only the signal of the thread that calls it. On any other thread the command would lose the
// signal, and it could outlive its parent and its watchdog. Go promises that main runs on the first thread if an init
// function locks it.
func init() {
	if len(os.Args) > 1 && os.Args[1] == StarterArg {
		runtime.LockOSThread()
	}
}

// RunStarter is the main function of a starter. args contains the number of the file descriptor from which the starter
// reads its message, the folder of the command or "", and then the path and arguments of the command. The starter writes to the next file descriptor.
// RunStarter returns only if the starter does not become the command.
func RunStarter(args []string, stderr io.Writer) int {
	notForPeople := func() int {
		fmt.Fprintln(stderr, "holdfast: the starter is not for people; see: holdfast help run")
		return 64
	}
	if len(args) < 4 {
		return notForPeople()
	}
	orders, err := strconv.ParseUint(args[0], 10, 16)
	if err != nil {
		return notForPeople()
	}
	syscall.CloseOnExec(int(orders))
	syscall.CloseOnExec(int(orders) + 1)
	in, out := os.NewFile(uintptr(orders), "orders"), os.NewFile(uintptr(orders)+1, "verdicts")
	if in == nil || out == nil {
		return notForPeople()
	}
	if dir := args[1]; dir != "" {
		var errno syscall.Errno
		if err := chdir(dir); errors.As(err, &errno) {
			_, _ = fmt.Fprintf(out, "chdir %d\n", errno)
			return 1
		}
	}
	_, _ = io.WriteString(out, "ready\n")
	line, err := bufio.NewReader(in).ReadString('\n')
	if errors.Is(err, io.EOF) {
		return 1 // the parent died, or does not want the command any more
	}
	at, bad := order(line)
	if err != nil || bad != nil {
		return notForPeople()
	}
	env := inGroup(os.Environ())
	_, _ = io.WriteString(out, "exec\n") // before the last check, because nothing may come between that check and exec
	if clock.Host() >= at {
		_, _ = io.WriteString(out, "late\n")
		return 1
	}
	err = syscall.Exec(args[2], args[3:], env)
	var errno syscall.Errno
	_ = errors.As(err, &errno)
	_, _ = fmt.Fprintf(out, "errno %d\n", errno)
	return 1
}

// chdir is [syscall.Chdir]. Only tests change it.
var chdir = syscall.Chdir

// order parses the message from the parent.
func order(line string) (until clock.Instant, err error) {
	word, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if word != "go" {
		err = errors.New("no order")
	}
	return clock.Instant(n), err
}

// starter is the parent's view of a starter process.
type starter struct {
	orders, verdicts *os.File
	noted            noted
}

// startStarter starts a starter with the command's files, attributes and environment.
func startStarter(cmd Command, attr *syscall.SysProcAttr) (*starter, int, error) {
	self, err := self()
	if err != nil {
		return nil, 0, err
	}
	theirOrders, ours, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	defer theirOrders.Close()
	heard, theirVerdicts, err := os.Pipe()
	if err != nil {
		_ = ours.Close()
		return nil, 0, err
	}
	defer theirVerdicts.Close()
	s := &starter{orders: ours, verdicts: heard, noted: note()}
	files := []uintptr{cmd.Stdin.Fd(), cmd.Stdout.Fd(), cmd.Stderr.Fd()}
	if cmd.User == nil {
		files = append(files, inherited()...)
	} else if own := ownProgram(); own != "" { // the user may have no right to the folder of this program
		self = own
	}
	args := append([]string{os.Args[0], StarterArg, strconv.Itoa(len(files)), cmd.Dir, cmd.Path}, cmd.Args...)
	// The parent needs Wait4, because Wait of an os.Process does not report that a process was stopped.
	pid, _, err := syscall.StartProcess(self, args, &syscall.ProcAttr{
		Env: lastOfEach(cmd.Env), Files: append(files, theirOrders.Fd(), theirVerdicts.Fd()), Sys: attr,
	})
	runtime.KeepAlive(cmd)
	if err != nil {
		s.close()
		return nil, 0, fmt.Errorf("start %s: %w", self, err)
	}
	return s, pid, nil
}

// lastOfEach returns env with only the last value of each variable. The starter would otherwise use the first one.
func lastOfEach(env []string) []string { return (&exec.Cmd{Env: env}).Environ() }

// closed in a list of file descriptors means that the process does not get this number.
const closed = ^uintptr(0)

// inherited returns the file descriptors from 3 upward that this process got from its own parent. The command gets
// them, too.
func inherited() (files []uintptr) {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return nil // without /dev/fd, the open files are unknown
	}
	for _, e := range open {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < 3 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue // this process opened the file itself, because Go sets this flag on all files that it opens
		}
		for len(files) <= fd-3 {
			files = append(files, closed)
		}
		files[fd-3] = uintptr(fd)
	}
	return files
}

func (s *starter) close() {
	_ = s.orders.Close()
	_ = s.verdicts.Close()
}

// release lets the starter become the command, and waits for the result. begun is true if the starter has tried exec
// and no failure is known. late is true if the lock ended before that, so that the command must not begin. If within
// ends before the starter got its message, the error is the cause of within.
func (s *starter) release(within context.Context, until func() time.Time) (begun, late bool, failed error) {
	defer s.close()
	defer context.AfterFunc(within, func() { _ = s.verdicts.Close() })()
	said := bufio.NewReader(s.verdicts)
	if !s.awaitReady(said, until) {
		return false, true, nil
	}
	at := forever
	if until != nil {
		if time.Since(s.noted.at) > longAgo {
			s.noted = note()
		}
		at = s.noted.deadline(until)
		left := at.Sub(clock.Host())
		if left <= 0 {
			return false, true, nil
		}
		// The wait ends at the deadline. The starter may be stopped, and its command must not begin after the
		// deadline.
		_ = s.verdicts.SetReadDeadline(time.Now().Add(left))
	}
	if within.Err() != nil {
		return false, false, context.Cause(within)
	}
	_, _ = fmt.Fprintf(s.orders, "go %d\n", at) // fails if the starter is gone; then no message comes from it
	all, err := io.ReadAll(said)
	verdict := strings.TrimPrefix(string(all), "ready\n")
	number, isErrno := strings.CutPrefix(verdict, "exec\nerrno ")
	outside, isOutside := strings.CutPrefix(verdict, "chdir ")
	switch {
	case errors.Is(err, os.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded) && verdict == "exec\n":
		return true, false, nil // the command may have begun; the caller waits for the end of the lock and then ends the command
	case errors.Is(err, os.ErrDeadlineExceeded), strings.HasSuffix(verdict, "late\n"):
		return false, true, nil
	case isErrno:
		return false, false, errnoOf(number)
	case isOutside:
		return false, false, enterError{errnoOf(outside)}
	}
	return verdict == "exec\n", false, nil
}

// errnoOf returns the error whose number the starter wrote.
func errnoOf(number string) syscall.Errno {
	n, _ := strconv.Atoi(strings.TrimSpace(number))
	return syscall.Errno(n)
}

// enterError means that the starter could not enter the folder of the command.
type enterError struct{ syscall.Errno }

func (e enterError) Unwrap() error { return e.Errno }

// longAgo is the largest age of the instant from which a deadline is computed. The computed deadline is too early by
// up to this age.
const longAgo = 50 * time.Millisecond

// awaitReady waits until the starter has written something or has ended, or until the caller has closed s.verdicts. It
// returns false if the lock ended first. until may be nil.
func (s *starter) awaitReady(said *bufio.Reader, until func() time.Time) bool {
	for {
		if until != nil {
			left := time.Until(until())
			if left <= 0 {
				return false
			}
			_ = s.verdicts.SetReadDeadline(time.Now().Add(left))
		}
		if _, err := said.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
			return true
		}
	}
}
