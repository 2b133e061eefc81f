package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

// cast contains all processes of the demo. Its method end kills all of them.
type cast struct {
	self string

	mu    sync.Mutex
	all   []*actor
	ended bool
}

// actor is one process of the demo.
type actor struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr bytes.Buffer  // valid after gone has closed
	gone   chan struct{} // closes when the process has ended and its output was read
}

// spawn starts this program with args. It calls heard for each line that the process prints.
func (c *cast) spawn(heard func(line string), args ...string) (*actor, error) {
	a := &actor{cmd: exec.Command(c.self, args...), gone: make(chan struct{})}
	a.cmd.Stderr = &a.stderr
	ownGroup(a.cmd)
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, context.Canceled
	}
	if err := parentdeath.Start(a.cmd); err != nil {
		return nil, err
	}
	c.all = append(c.all, a)
	go func() {
		defer close(a.gone)
		for s := bufio.NewScanner(out); s.Scan(); {
			heard(s.Text())
		}
		_ = a.cmd.Wait() // most of the processes are killed, so an error is usual
	}()
	return a, nil
}

// node starts a node process, and returns when it listens.
func (c *cast) node(addr string, again bool) (*actor, error) {
	args := []string{NodeArg, addr}
	if again {
		args = append(args, "again")
	}
	ready := make(chan struct{})
	a, err := c.spawn(func(string) { close(ready) }, args...)
	if err != nil {
		return nil, err
	}
	select {
	case <-ready:
		return a, nil
	case <-a.gone:
		return nil, fmt.Errorf("node %s ended: %s", addr, a.stderr.Bytes())
	case <-time.After(patience):
		return nil, fmt.Errorf("node %s does not start", addr)
	}
}

func (c *cast) worker(r role, heard func(line string)) (*actor, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return c.spawn(heard, WorkerArg, string(b))
}

// kill ends a process with SIGKILL, and waits for its end.
func (a *actor) kill() {
	_ = a.cmd.Process.Kill() // fails only if the process has ended
	<-a.gone
}

// leave asks a process to end after its present work, and waits. If that takes too long, leave kills the process.
func (a *actor) leave() error {
	_ = a.stdin.Close()
	select {
	case <-a.gone:
	case <-time.After(patience):
		a.kill()
		return fmt.Errorf("process %d did not end", a.cmd.Process.Pid)
	}
	if a.stderr.Len() > 0 {
		return fmt.Errorf("%s", bytes.TrimSpace(a.stderr.Bytes()))
	}
	return nil
}

// end kills all remaining processes.
func (c *cast) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	for _, a := range c.all {
		a.kill()
	}
}

// patience limits waits that are usually short.
const patience = 10 * time.Second

// freeAddr returns a free address on the loopback interface. A node is killed there and later restarted with the same
// address. The port is below the range that kernels use for outgoing connections. Otherwise such a connection could
// take the port while the node is down.
func freeAddr() string {
	for {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(20000+rand.IntN(12000)))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
}
