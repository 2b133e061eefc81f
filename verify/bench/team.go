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

	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

// team has the worker processes of one system on one node set.
type team struct {
	system *system
	people []*process
	slices int // the number of slices so far with a hot name
}

// process is one worker process.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	write *json.Encoder
	read  *json.Decoder
}

// starting is the number of processes that start at a time. If hundreds started at once, each would be so slow that the
// nodes seem not to answer.
const starting = 8

// newTeam starts the processes and waits until all are ready. procs is the GOMAXPROCS of each process; 0 means the
// number of cores.
func newTeam(sys *system, size, procs int, urls []string) (*team, error) {
	t := &team{system: sys}
	for i := range size + starting {
		if i < size {
			p, err := newProcess(setup{System: sys.name, URLs: urls}, procs)
			if err != nil {
				t.end()
				return nil, err
			}
			t.people = append(t.people, p)
		}
		if i < starting || i-starting >= size {
			continue
		}
		if _, err := t.people[i-starting].answer(); err != nil {
			t.end()
			return nil, fmt.Errorf("%s: %w", sys.name, err)
		}
	}
	return t, nil
}

func newProcess(s setup, procs int) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(self, workerArg)}
	p.cmd.Stderr = os.Stderr
	if procs > 0 {
		p.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", procs))
	}
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p.in, p.write, p.read = in, json.NewEncoder(in), json.NewDecoder(out)
	if err := parentdeath.Start(p.cmd); err != nil {
		return nil, err
	}
	if err := p.write.Encode(s); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func (p *process) answer() (a answer, err error) {
	if err := p.read.Decode(&a); err != nil {
		return a, fmt.Errorf("worker: %w", err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// soon returns a time at which all processes will know a slice that is sent now.
func (t *team) soon() time.Time {
	return time.Now().Add(30*time.Millisecond + time.Duration(len(t.people))*time.Millisecond)
}

// run runs a slice and returns the outcome of each process.
func (t *team) run(s slice) ([]outcome, error) {
	s.Begin = t.soon()
	return t.begin(s)()
}

// begin sends a slice to its processes. wait waits for the outcomes.
func (t *team) begin(s slice) (wait func() ([]outcome, error)) {
	return t.beginEach(s.Processes, func(i int) slice {
		mine := s
		if !s.Hot {
			mine.Name = fmt.Sprintf("%s/%d", s.Name, i)
		}
		return mine
	})
}

// beginEach sends each of the first n processes its own slice.
func (t *team) beginEach(n int, of func(i int) slice) (wait func() ([]outcome, error)) {
	outcomes, errs := make([]outcome, n), make([]error, n)
	var all sync.WaitGroup
	for i, p := range t.people[:n] {
		if errs[i] = p.write.Encode(of(i)); errs[i] == nil {
			all.Go(func() {
				a, err := p.answer()
				outcomes[i], errs[i] = a.Outcome, err
			})
		}
	}
	return func() ([]outcome, error) {
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return nil, fmt.Errorf("%s: %w", t.system.name, err)
		}
		return outcomes, nil
	}
}

// end ends the processes at once. They need not release their locks, because the servers are flushed next.
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
