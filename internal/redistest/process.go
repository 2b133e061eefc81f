package redistest

import (
	"os"
	"os/exec"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // this channel closes when the process is reaped
}

// spawn starts a program that dies with this process. The output of the program is appended to log.
func spawn(log string, env []string, name string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own copy
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), env...)
	if err := parentdeath.Start(cmd); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // all processes end with "signal: killed"
		close(p.exited)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only if the process is gone already
	<-p.exited
}
