package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// team is the worker processes of one system on one node set.
type team struct {
	system *system
	people []*process
	slices int // that had a name of their own
}

// process is one worker process.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	write *json.Encoder
	read  *json.Decoder
}

func newTeam(sys *system, size int, urls []string) (*team, error) {
	t := &team{system: sys}
	for range size {
		p, err := newProcess(setup{System: sys.name, URLs: urls})
		if err != nil {
			t.end()
			return nil, err
		}
		t.people = append(t.people, p)
	}
	for _, p := range t.people {
		if _, err := p.answer(); err != nil {
			t.end()
			return nil, fmt.Errorf("%s: %w", sys.name, err)
		}
	}
	return t, nil
}

func newProcess(s setup) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(self, workerArg)}
	p.cmd.Stderr = os.Stderr
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p.in, p.write, p.read = in, json.NewEncoder(in), json.NewDecoder(out)
	if err := spawn(p.cmd); err != nil {
		return nil, err
	}
	return p, p.write.Encode(s)
}

func (p *process) answer() (outcome, error) {
	var a answer
	if err := p.read.Decode(&a); err != nil {
		return outcome{}, fmt.Errorf("worker: %w", err)
	}
	if a.Error != "" {
		return outcome{}, errors.New(a.Error)
	}
	return a.Outcome, nil
}

// run runs a slice in all processes at once and returns the outcome of each.
func (t *team) run(s slice) ([]outcome, error) {
	s.Begin = time.Now().Add(30*time.Millisecond + time.Duration(len(t.people))*time.Millisecond)
	name := s.Name
	for i, p := range t.people {
		if !s.Hot {
			s.Name = fmt.Sprintf("%s/%d", name, i)
		}
		if err := p.write.Encode(s); err != nil {
			return nil, fmt.Errorf("%s: %w", t.system.name, err)
		}
	}
	outcomes, errs := make([]outcome, len(t.people)), make([]error, len(t.people))
	var wait sync.WaitGroup
	for i, p := range t.people {
		wait.Go(func() { outcomes[i], errs[i] = p.answer() })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("%s: %w", t.system.name, err)
	}
	return outcomes, nil
}

// end ends the processes: at once, because what they hold is flushed next.
func (t *team) end() {
	for _, p := range t.people {
		_ = p.in.Close()
	}
	for _, p := range t.people {
		timer := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
		_ = p.cmd.Wait()
		timer.Stop()
	}
}
