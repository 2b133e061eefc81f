//go:build linux

package fencing

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

// patience limits each wait for a process.
const patience = time.Minute

// process is a holder process.
type process struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers chan string // closed when the process has ended
	said    bytes.Buffer
}

func start(r role) (*process, error) {
	settings, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(os.Args[0], holderArg, string(settings)), answers: make(chan string)}
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GORACE=atexit_sleep_ms=0")
	p.cmd.Stderr = &p.said
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := parentdeath.Start(p.cmd); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.answers)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.answers <- lines.Text()
		}
		_ = p.cmd.Wait()
	}()
	return p, nil
}

// end ends the process.
func (p *process) end() {
	_ = p.cmd.Process.Kill()
	for range p.answers {
	}
}

// ask sends a command and returns the answer.
func (p *process) ask(command string) (string, error) {
	if err := p.tell(command); err != nil {
		return "", err
	}
	return p.answer()
}

func (p *process) tell(command string) error {
	_, err := fmt.Fprintln(p.stdin, command)
	return err
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

// freeze stops the process, and returns when all its threads are stopped.
func (p *process) freeze() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			return err
		}
		// The state follows the name, which is in parentheses and may contain any character.
		if i := bytes.LastIndexByte(stat, ')'); i > 0 && bytes.HasPrefix(stat[i:], []byte(") T")) {
			return nil
		}
	}
	return fmt.Errorf("the holder process does not stop within %v", patience)
}

func (p *process) thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
