//go:build linux

package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// process is a client process as the harness sees it.
type process struct {
	*selfexec.Child
	id     int
	role   Role
	stderr bytes.Buffer // readable after Gone is closed

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
	// The clients share about two CPUs with the servers, so more threads would only disturb each other.
	cmd := selfexec.Command([]string{"GOMAXPROCS=2"}, clientArg, string(b))
	if r.Busy > 0 { // it may not take the processors from the other clients
		nice := exec.Command("nice", append([]string{"-n", "5"}, cmd.Args...)...)
		nice.Env = append(cmd.Env, "GOMAXPROCS=1")
		cmd = nice
	}
	p := &process{id: r.Client, role: r}
	cmd.Stderr = &p.stderr
	if p.Child, err = selfexec.Start(cmd, func(line string) {
		var e Event
		if json.Unmarshal([]byte(line), &e) == nil { // a kill may have cut the line off
			p.hear(e)
		}
	}); err != nil {
		t.Fatal(err)
	}
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
	p.Signal(syscall.SIGSTOP)
}

func (p *process) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Signal(syscall.SIGCONT)
	for i := range p.frozen {
		if p.frozen[i].to == 0 {
			p.frozen[i].to = Monotonic()
		}
	}
}

func (p *process) kill() {
	p.mu.Lock()
	p.Signal(syscall.SIGKILL)
	if p.killed == 0 {
		p.killed = Monotonic()
	}
	p.mu.Unlock()
	<-p.Gone
}

// stop ends the loops of the process. Its locker stays open.
func (p *process) stop() {
	p.thaw()
	_ = p.Tell("") // fails if the process is gone
}

// leave makes the process end by itself. An error is an error of the harness, not of the lock.
func (p *process) leave(within time.Duration) error {
	p.thaw()
	_ = p.Stdin.Close()
	select {
	case <-p.Gone:
	case <-time.After(within):
		p.Signal(syscall.SIGQUIT) // the process prints its goroutines
		select {
		case <-p.Gone:
		case <-time.After(5 * time.Second):
			p.kill()
		}
		return fmt.Errorf("client %d did not end: %s", p.id, p.stderr.Bytes())
	}
	if p.Err != nil {
		return fmt.Errorf("client %d: %v: %s", p.id, p.Err, p.stderr.Bytes())
	}
	return nil
}
