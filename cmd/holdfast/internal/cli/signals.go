package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
)

// signals contains the channel ch on which run receives signals from its start to its end. First a signal ends the wait
// for the lock, later it goes to the command, and then it ends the stay. There is only one such channel, so that no
// signal gets lost between these three times.
type signals struct {
	ch   chan os.Signal
	came chan os.Signal // the first signal that ends this process; only talker.finish receives from it
}

// catchSignals begins to receive the ending signals in a.signals.
func (a *app) catchSignals() *signals {
	s := &a.signals
	s.ch, s.came = make(chan os.Signal, 16), make(chan os.Signal, 1)
	notify(s.ch, childprocess.Ending)
	notify(s.came, childprocess.Ending)
	outliveReaders()
	return s
}

// endsBy makes talker.finish wait only shortly after one of these signals. A command that handles signals itself calls
// it after it has begun to receive them.
func (a *app) endsBy(list ...os.Signal) {
	a.signals.came = make(chan os.Signal, 1)
	notify(a.signals.came, list)
}

// outliveReaders handles SIGPIPE. The program that reads stderr may end. With this handler, a later write to stderr
// does not end holdfast while a command runs. To ignore SIGPIPE would also prevent that, but the command would inherit
// the setting.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// notify leaves out signals that were ignored when holdfast started. For example, nohup ignores HUP, so HUP must end
// neither holdfast nor the command. The same is true for INT in a background job of a script.
func notify(ch chan os.Signal, list []os.Signal) {
	for _, sig := range list {
		if !signal.Ignored(sig) {
			signal.Notify(ch, sig)
		}
	}
}

// interrupt makes the next signal call cancel, until stop is called. stop returns the failure for that signal, or nil.
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

// forward returns the channel of signals for a command. From now on it also receives the signals of job control.
func (s *signals) forward() <-chan os.Signal {
	notify(s.ch, childprocess.JobControl)
	return s.ch
}

// received returns the channel of signals after the command has ended. It no longer receives the signals of job
// control.
func (s *signals) received() <-chan os.Signal {
	signal.Reset(childprocess.JobControl...)
	return s.ch
}
