// Package selfexec starts the test binary again as a process of its own, and reads what the process says, line by line.
package selfexec

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

// Child is a process from the view of its test. The kernel kills it when the test binary ends.
type Child struct {
	Cmd   *exec.Cmd
	Stdin io.WriteCloser
	Gone  chan struct{} // closed when the process has ended and its last line was heard
	Err   error         // how it ended; readable after Gone

	started <-chan struct{} // closed when it catches signals; nil if it does not say so
}

// Command returns the command that runs this binary with these arguments, and with more variables of the environment.
func Command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	// Under the race detector, a program would otherwise sleep for a second at its end.
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), env...)
	return cmd
}

// Run starts cmd, and kills its process at the end of the test. See [Start].
func Run(t testing.TB, cmd *exec.Cmd, hear func(line string)) *Child {
	t.Helper()
	c, err := Start(cmd, hear)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c
}

// Start starts cmd. It calls hear for each line that the process prints, one after the other. If hear is nil, nobody
// reads the lines. The errors of the process go to those of this binary, unless cmd says otherwise.
func Start(cmd *exec.Cmd, hear func(line string)) (*Child, error) {
	c := &Child{Cmd: cmd, Gone: make(chan struct{})}
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	var err1, err2 error
	c.Stdin, err1 = cmd.StdinPipe()
	var out io.Reader = strings.NewReader("")
	if hear != nil {
		out, err2 = cmd.StdoutPipe()
	}
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if err := parentdeath.Start(cmd); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.Gone)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			hear(lines.Text())
		}
		c.Err = cmd.Wait()
	}()
	return c, nil
}

// Started is the line that a process prints when it catches signals.
const Started = "started"

// RunStoppable starts cmd as [Run] does. The process prints [Started], and nobody reads its other lines.
func RunStoppable(t testing.TB, cmd *exec.Cmd) *Child {
	t.Helper()
	started := make(chan struct{})
	c := Run(t, cmd, func(line string) {
		if line == Started {
			close(started)
		}
	})
	c.started = started
	return c
}

// Stop sends SIGTERM to a process of [RunStoppable] as soon as the process catches signals.
func (c *Child) Stop() {
	select {
	case <-c.started:
	case <-c.Gone:
	}
	c.Signal(syscall.SIGTERM)
}

// Tell sends a line to the process.
func (c *Child) Tell(line string) error {
	_, err := fmt.Fprintln(c.Stdin, line)
	return err
}

// Signal sends sig. It does nothing if the process has ended.
func (c *Child) Signal(sig syscall.Signal) { _ = c.Cmd.Process.Signal(sig) }

// Kill ends the process as kill -9 does, and waits until its last line was heard.
func (c *Child) Kill() {
	c.Signal(syscall.SIGKILL)
	<-c.Gone
}

// Freeze stops the process. It returns when all its threads have stopped.
func (c *Child) Freeze() error {
	c.Signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.Cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		return fmt.Errorf("freeze: %w, status %v", err, status)
	}
	return nil
}
