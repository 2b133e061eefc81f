package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/holdfast-go/holdfast/internal/child"
)

// signals are those that run gets, from its beginning to its end: first they end the
// wait for the lock, then they are the command's, then they end the stay. One channel
// for all, so that none falls between two.
type signals struct{ ch chan os.Signal }

func catchSignals() *signals {
	s := &signals{ch: make(chan os.Signal, 16)}
	notify(s.ch, child.Ending)
	// Who reads our stderr may go away, and a line to nobody must not end us while a
	// command runs. Not by ignoring the signal: the command would inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return s
}

// notify leaves out what was ignored when we were started: under nohup, HUP is not
// for us, nor for the command; nor is Ctrl-C for a script's background job.
func notify(ch chan os.Signal, list []os.Signal) {
	for _, sig := range list {
		if !signal.Ignored(sig) {
			signal.Notify(ch, sig)
		}
	}
}

// interrupt cancels by a signal, until stop is called; stop returns the signal's
// failure, or nil.
func (s *signals) interrupt(cancel context.CancelCauseFunc) (stop func() error) {
	quit, result := make(chan struct{}), make(chan error, 1)
	go func() {
		select {
		case sig := <-s.ch:
			f := signalled(sig)
			cancel(f)
			result <- f
		case <-quit:
			result <- nil
		}
	}()
	return func() error {
		close(quit)
		return <-result
	}
}

func signalled(sig os.Signal) *failure {
	return &failure{code: exitSignal + int(sig.(syscall.Signal)), err: fmt.Errorf("ended by signal: %s", sig)}
}

// forward gives the signals to a command, with those of job control.
func (s *signals) forward() <-chan os.Signal {
	notify(s.ch, child.JobControl)
	return s.ch
}

// received takes them back after the command.
func (s *signals) received() <-chan os.Signal {
	signal.Reset(child.JobControl...)
	return s.ch
}
