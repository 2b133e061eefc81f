//go:build linux

package fencing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// patience limits each wait for a process.
const patience = time.Minute

// process is a holder process.
type process struct {
	*selfexec.Child
	answers chan string // closed when the process has ended
	said    bytes.Buffer
}

func start(r role) (*process, error) {
	settings, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	p := &process{answers: make(chan string)}
	cmd := selfexec.Command([]string{"GOMAXPROCS=1"}, holderArg, string(settings))
	cmd.Stderr = &p.said
	if p.Child, err = selfexec.Start(cmd, func(line string) { p.answers <- line }); err != nil {
		return nil, err
	}
	go func() {
		<-p.Gone
		close(p.answers)
	}()
	return p, nil
}

// end ends the process.
func (p *process) end() {
	p.Signal(syscall.SIGKILL)
	for range p.answers {
	}
}

// ask sends a command and returns the answer.
func (p *process) ask(command string) (string, error) {
	if err := p.Tell(command); err != nil {
		return "", err
	}
	return p.answer()
}

func (p *process) answer() (string, error) {
	select {
	case answer, ok := <-p.answers:
		if !ok {
			return "", fmt.Errorf("the holder process ended: %s", &p.said)
		}
		return answer, nil
	case <-time.After(patience):
		return "", fmt.Errorf("the holder process does not answer within %v", patience)
	}
}
