package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// stage has the processes beside the workers: the servers, and the processes that make a state of the machine.
type stage struct {
	state   state
	servers []*server
	urls    []string   // the addresses for clients
	others  []*process // those that keep the CPUs awake, and the relay
}

func newStage(nodes int, in state) (*stage, error) {
	s := &stage{state: in}
	if err := s.start(nodes); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *stage) start(nodes int) (err error) {
	if s.servers, err = startServers(nodes); err != nil {
		return err
	}
	for _, server := range s.servers {
		if err := server.fresh(context.Background()); err != nil {
			return err
		}
		s.urls = append(s.urls, server.url())
	}
	if err := admit(s.urls); err != nil {
		return err
	}
	if s.state.delay > 0 {
		if err := s.relay(); err != nil {
			return fmt.Errorf("delay by %v: %w", s.state.delay, err)
		}
	}
	if s.state.pinned {
		if err := s.pin(); err != nil {
			return fmt.Errorf("pin the processes: %w", err)
		}
	}
	if s.state.awake {
		return s.awaken()
	}
	return nil
}

// relay puts a relay between the clients and the servers.
func (s *stage) relay() error {
	a, err := s.add(setup{URLs: s.urls, Delay: s.state.delay})
	s.urls = a.URLs
	return err
}

// awaken keeps all CPUs awake that this process may use.
func (s *stage) awaken() error {
	if len(processors) == 0 {
		return errors.New("the CPUs of this process are unknown, so nothing keeps them awake: measure with -cpus asis")
	}
	for _, cpu := range processors {
		if _, err := s.add(setup{Awake: &cpu}); err != nil {
			return fmt.Errorf("keep CPU %d awake: %w (measure with -cpus asis)", cpu, err)
		}
	}
	return nil
}

// add starts a process that is no client, and waits until it is ready.
func (s *stage) add(with setup) (answer, error) {
	p, err := newProcess(with, 0)
	if err != nil {
		return answer{}, err
	}
	s.others = append(s.others, p)
	return p.answer()
}

// pin gives the servers and the relay the last CPU, and this process the others. The workers start later, so they
// inherit the CPUs of this process, and their settings that depend on the number of CPUs are right.
func (s *stage) pin() error {
	last := len(processors) - 1
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, pin(server.cmd.Process.Pid, processors[last:]))
	}
	for _, p := range s.others {
		errs = append(errs, pin(p.cmd.Process.Pid, processors[last:]))
	}
	return errors.Join(append(errs, pin(os.Getpid(), processors[:last]))...)
}

// cpu returns the CPU time of the others. It is neither the clients' nor the servers', and it is no noise.
func (s *stage) cpu() (sum time.Duration) {
	for _, p := range s.others {
		sum += processCPU(p.cmd.Process.Pid)
	}
	return sum
}

func (s *stage) end() {
	for _, p := range s.others {
		p.kill()
	}
	stopServers(s.servers)
	if s.state.pinned {
		_ = pin(os.Getpid(), processors)
	}
}
