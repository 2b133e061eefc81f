package cli

import (
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
)

// launch contains what run, run --tick and lead prepare before they wait for the lock.
type launch struct {
	path   string // the path of the command's program
	client *holdfast.Client
	sig    *signals
}

// launch finds the program of the command, opens a client, and starts to receive signals. It does this before the wait
// for a lock. Otherwise a run that cannot start would keep other waiters waiting. The caller closes the client.
//
// If change is not nil, it may change the client's configuration.
func (a *app) launch(command string, ttl time.Duration, change func(*holdfast.Config)) (launch, error) {
	if err := childprocess.Supported(); err != nil {
		return launch{}, notStarted(err, "")
	}
	path, err := childprocess.Find(command)
	if err != nil {
		return launch{}, notStarted(err, command)
	}
	client, err := a.settings.open(a.talker, func(c *holdfast.Config) {
		c.TTL = ttl
		if change != nil {
			change(c)
		}
	})
	if err != nil {
		return launch{}, err
	}
	sig := a.catchSignals()
	return launch{path, client, sig}, nil
}
