package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/holdfast-go/holdfast/internal/command/childprocess"
)

// signals are the signals that run receives from its start to its end. They first end the wait for the lock, then go to
// the command, and then end the stay. One channel serves all three, so that no signal is lost in between.
type signals struct{ ch chan os.Signal }

func catchSignals() *signals {
	s := &signals{ch: make(chan os.Signal, 16)}
	notify(s.ch, childprocess.Ending)
	// The reader of stderr may go away. A write without a reader must not end holdfast while a command runs. To ignore
	// SIGPIPE would be wrong, because the command would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return s
}

// notify leaves out signals that were ignored when holdfast started. For example, under nohup HUP must end neither
// holdfast nor the command. The same applies to Ctrl-C and a background job of a script.
func notify(ch chan os.Signal, list []os.Signal) {
	for _, sig := range list {
		if !signal.Ignored(sig) {
			signal.Notify(ch, sig)
		}
	}
}

// interrupt makes a signal call cancel, until stop is called. stop returns the failure for the signal, or nil.
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

// forward sends the signals to a command. It adds the signals of job control.
func (s *signals) forward() <-chan os.Signal {
	notify(s.ch, childprocess.JobControl)
	return s.ch
}

// received makes holdfast receive the signals again after the command.
func (s *signals) received() <-chan os.Signal {
	signal.Reset(childprocess.JobControl...)
	return s.ch
}
