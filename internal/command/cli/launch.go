package cli

import (
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/command/childprocess"
)

// launch is what run, run --tick and lead have before they wait for the lock.
type launch struct {
	path   string // of the command
	client *holdfast.Client
	sig    *signals
}

// launch finds the command, opens a client, and receives signals from now on. It comes before the wait for a lock, because
// no waiter should wait for a run that cannot start. The caller closes the client.
func (a *app) launch(command string, ttl time.Duration) (launch, error) {
	if err := childprocess.Supported(); err != nil {
		return launch{}, notStarted(err)
	}
	path, err := childprocess.Find(command)
	if err != nil {
		return launch{}, notStarted(err)
	}
	client, err := a.settings.open(a.talker, func(c *holdfast.Config) { c.TTL = ttl })
	if err != nil {
		return launch{}, err
	}
	sig := catchSignals()
	a.signals = *sig
	return launch{path, client, sig}, nil
}
