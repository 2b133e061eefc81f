//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

// process is a client process as the harness sees it.
type process struct {
	id     int
	role   Role
	cmd    *exec.Cmd
	stdin  *os.File
	stderr bytes.Buffer // readable after gone is closed
	gone   chan struct{}

	mu     sync.Mutex
	events []Event
	frozen []span // the times of its stops; the last stop may still last
	stood  []span // the times without a processor, by its own report
	killed int64  // when the process was killed; 0: never
	idle   int64  // when its loops ended; 0: they run
	inside int    // the number of its loops that hold a lock, by the events so far
}

// span is a time span. to is 0 while the span lasts.
type span struct{ from, to int64 }

func startProcess(t testing.TB, r Role) *process {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	args, threads := []string{os.Args[0], clientArg, string(b)}, 2
	if r.Busy > 0 { // it may not take the processors from the other clients
		args, threads = append([]string{"nice", "-n", "5"}, args...), 1
	}
	p := &process{id: r.Client, role: r, cmd: exec.Command(args[0], args[1:]...), gone: make(chan struct{})}
	in, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, in, stdout, &p.stderr
	// The clients share about two CPUs with the servers, so more threads would only disturb each other.
	p.cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", threads), "GORACE=atexit_sleep_ms=0")
	if err := parentdeath.Start(p.cmd); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Close(), stdout.Close()
	go func() {
		defer close(p.gone)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				continue // a kill cut the line off
			}
			p.hear(e)
		}
		_ = out.Close()
		_ = p.cmd.Wait()
		_ = p.stdin.Close()
	}()
	return p
}

func (p *process) hear(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
	switch e.What {
	case has:
		p.inside++
	case over:
		p.inside--
	case stood:
		p.stood = append(p.stood, span{e.Since, e.At})
	case idle:
		p.idle = e.At
	case stops:
		p.frozen = append(p.frozen, span{from: e.At})
		go func() {
			time.Sleep(selfPause)
			p.thaw()
		}()
	}
}

// selfPause is the time for which a client that stopped itself stays stopped.
const selfPause = 4 * time.Second

func (p *process) holds() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inside > 0 && p.killed == 0
}

func (p *process) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = append(p.frozen, span{from: Monotonic()})
	_ = p.cmd.Process.Signal(syscall.SIGSTOP) // fails if the process is gone
}

func (p *process) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	for i := range p.frozen {
		if p.frozen[i].to == 0 {
			p.frozen[i].to = Monotonic()
		}
	}
}

func (p *process) kill() {
	p.mu.Lock()
	_ = p.cmd.Process.Kill()
	if p.killed == 0 {
		p.killed = Monotonic()
	}
	p.mu.Unlock()
	<-p.gone
}

// stop ends the loops of the process. Its locker stays open.
func (p *process) stop() {
	p.thaw()
	_, _ = p.stdin.Write([]byte("\n")) // fails if the process is gone
}

// leave makes the process end by itself. An error is an error of the harness, not of the lock.
func (p *process) leave(within time.Duration) error {
	p.thaw()
	_ = p.stdin.Close()
	select {
	case <-p.gone:
	case <-time.After(within):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // the process prints its goroutines
		select {
		case <-p.gone:
		case <-time.After(5 * time.Second):
			p.kill()
		}
		return fmt.Errorf("client %d did not end: %s", p.id, p.stderr.Bytes())
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("client %d: %v: %s", p.id, p.cmd.ProcessState, p.stderr.Bytes())
	}
	return nil
}
