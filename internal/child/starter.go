//go:build unix

package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/clock"
)

// A command is started in two steps. The starter is this same program. It already has the process id, group, files and
// environment of the command. It waits for one message, checks the lock's deadline, and becomes the command by exec. So between the last look and the command lies one system call of one process: wherever the
// parent stands still, and for how long, the command does not begin without the lock. And the watchdog knows the group
// before the command can do anything.
//
// The starter reads from one pipe:
//
//	go 4711       be the command, unless the host's clock is at 4711 ns or later
//
// and writes to another one, which exec closes:
//
//	ready         it reads now: to get there may take long, and the lock is renewed meanwhile
//	exec          it got the word …
//	late          … and did not try, because the deadline is over
//	errno 2       … and tried, and failed

// The pipes have the first file descriptors that the command does not inherit: those of systemd's sockets, of make's job
// server, or of a script are left as they are.

// StarterArg is the first argument of a starter, followed by those of [RunStarter]. A program that calls [Start] calls
// that when it finds it.
const StarterArg = "__start"

// forever is the deadline of a command without one.
const forever = clock.Instant(1<<63 - 1)

// ErrLate: the lock was over before the command could begin. Nothing was run.
var ErrLate = errors.New("the lock was lost before the command could begin")

// RunStarter is the starter's whole life. args are the file descriptor of its orders, which that of its verdicts follows,
// and the path and arguments of the command. It returns only if it does not become the command.
func RunStarter(args []string, stderr io.Writer) int {
	notForPeople := func() int {
		fmt.Fprintln(stderr, "holdfast: the starter is not for people; see: holdfast help run")
		return 64
	}
	if len(args) < 3 {
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
	_, _ = io.WriteString(out, "ready\n")
	line, err := bufio.NewReader(in).ReadString('\n')
	if errors.Is(err, io.EOF) {
		return 1 // the parent died, or will not have the command any more
	}
	at, bad := order(line)
	if err != nil || bad != nil {
		return notForPeople()
	}
	_, _ = io.WriteString(out, "exec\n") // before the last look: nothing may come between that and exec
	if clock.Host() >= at {
		_, _ = io.WriteString(out, "late\n")
		return 1
	}
	err = syscall.Exec(args[1], args[2:], os.Environ())
	var errno syscall.Errno
	_ = errors.As(err, &errno)
	_, _ = fmt.Fprintf(out, "errno %d\n", errno)
	return 1
}

// order takes a parent's line apart.
func order(line string) (until clock.Instant, err error) {
	word, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if word != "go" {
		err = errors.New("no order")
	}
	return clock.Instant(n), err
}

// starter is the parent's side.
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
	files := append([]uintptr{cmd.Stdin.Fd(), cmd.Stdout.Fd(), cmd.Stderr.Fd()}, inherited()...)
	args := append([]string{os.Args[0], StarterArg, strconv.Itoa(len(files)), cmd.Path}, cmd.Args...)
	// Not an os.Process: it cannot tell that it was stopped. Wait4 reaps it.
	pid, _, err := syscall.StartProcess(self, args, &syscall.ProcAttr{
		Env: cmd.Env, Files: append(files, theirOrders.Fd(), theirVerdicts.Fd()), Sys: attr,
	})
	runtime.KeepAlive(cmd)
	if err != nil {
		s.close()
		return nil, 0, fmt.Errorf("start %s: %w", self, err)
	}
	return s, pid, nil
}

// closed stands for a file descriptor that a process does not get.
const closed = ^uintptr(0)

// inherited are the file descriptors from 3 on that this process has from its parent, and that its children have, too.
func inherited() (files []uintptr) {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return nil // nobody can tell which
	}
	for _, e := range open {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < 3 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue // our own: Go opens all files so
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

// release lets the starter become the command, and waits until it has. begun is false where it said nothing of that;
// late is true where it must not.
func (s *starter) release(until func() time.Time) (begun, late bool, failed error) {
	defer s.close()
	at := forever
	said := bufio.NewReader(s.verdicts)
	if until != nil {
		if !s.awaitReady(said, until) {
			return false, true, nil
		}
		if time.Since(s.noted.at) > longAgo {
			s.noted = note()
		}
		at = s.noted.deadline(until)
		left := at.Sub(clock.Host())
		if left <= 0 {
			return false, true, nil
		}
		// Not for longer: it may be stopped, and its command must not begin without the lock.
		_ = s.verdicts.SetReadDeadline(time.Now().Add(left))
	}
	_, _ = fmt.Fprintf(s.orders, "go %d\n", at) // fails if it is gone: then there is no verdict
	all, err := io.ReadAll(said)
	verdict := strings.TrimPrefix(string(all), "ready\n")
	number, isErrno := strings.CutPrefix(verdict, "exec\nerrno ")
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && verdict == "exec\n":
		return true, false, nil // it may have begun: who waits for the lock's end ends it
	case errors.Is(err, os.ErrDeadlineExceeded), strings.HasSuffix(verdict, "late\n"):
		return false, true, nil
	case isErrno:
		n, _ := strconv.Atoi(strings.TrimSpace(number))
		return false, false, syscall.Errno(n)
	}
	return verdict == "exec\n", false, nil
}

// longAgo is for how long a reckoning of the deadline may lie back: so much less is left of it.
const longAgo = 50 * time.Millisecond

// awaitReady waits until the starter has said something, or has ended. False: the lock is over.
func (s *starter) awaitReady(said *bufio.Reader, until func() time.Time) bool {
	for {
		left := time.Until(until())
		if left <= 0 {
			return false
		}
		_ = s.verdicts.SetReadDeadline(time.Now().Add(left))
		if _, err := said.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
			return true
		}
	}
}
