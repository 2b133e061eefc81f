package holdfastgocron

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// ErrNotLeader means that another process is the leader, or nobody at the moment.
var ErrNotLeader = errors.New("not the leader")

// pause is the time between two campaigns that fail.
const pause = time.Second

// patience limits the release of the lock in Close.
const patience = 5 * time.Second

// Elector makes one process of a fleet the leader. It is a gocron.Elector: pass it to gocron.WithDistributedElector.
// The leader has a lock; the others wait for it. It is safe for concurrent use.
type Elector struct {
	client *holdfast.Client
	name   string
	stop   context.CancelFunc
	ended  chan struct{} // closed when the campaign has ended

	mu     sync.Mutex
	lease  *holdfast.Lease // nil: not the leader
	waits  error           // the last reason why this process is not the leader
	closed bool
	cancel map[*context.CancelCauseFunc]struct{} // ends the tasks that run
	tasks  sync.WaitGroup
}

var _ gocron.Elector = (*Elector)(nil)

// NewElector begins to campaign for the lock of this name, in the background, until Close. All processes of the fleet
// use the same name. The options are those of [holdfast.Client.Mutex].
//
// NewElector does not wait. If the campaign can never succeed, for example because of a bad name, IsLeader returns the
// reason.
func NewElector(client *holdfast.Client, name string, options ...holdfast.Option) *Elector {
	ctx, stop := context.WithCancel(context.Background())
	e := &Elector{client: client, name: name, stop: stop, ended: make(chan struct{}), cancel: map[*context.CancelCauseFunc]struct{}{}}
	options = append(options, holdfast.WaitThroughOutages(), holdfast.OnWait(func(err error) { e.set(nil, err) }))
	go e.campaign(ctx, client.Mutex(name, options...))
	return e
}

// campaign waits for the lock, keeps it until it is lost, and waits again.
func (e *Elector) campaign(ctx context.Context, m *holdfast.Mutex) {
	defer close(e.ended)
	for ctx.Err() == nil {
		lease, err := m.Lock(ctx)
		if err != nil {
			e.set(nil, err)
			if errors.Is(err, holdfast.ErrClosed) || errors.Is(err, holdfast.ErrBadName) || errors.Is(err, holdfast.ErrBadTTL) {
				return
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			continue
		}
		e.set(lease, nil)
		select {
		case <-lease.Context().Done():
			e.set(nil, context.Cause(lease.Context()))
		case <-ctx.Done():
			e.resign(lease)
		}
	}
}

func (e *Elector) set(lease *holdfast.Lease, why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lease, e.waits = lease, why
}

// resign ends the tasks, waits for their end, and releases the lock.
func (e *Elector) resign(lease *holdfast.Lease) {
	e.mu.Lock()
	e.lease = nil
	for cancel := range e.cancel {
		(*cancel)(holdfast.ErrReleased)
	}
	e.mu.Unlock()
	e.tasks.Wait()
	bounded, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = lease.Unlock(bounded) // the lock ends with its TTL
}

// IsLeader returns nil if this process is the leader. It asks no node, and returns at once. Otherwise the error matches
// [ErrNotLeader] and names the leader, if it is known. ctx has no effect.
func (e *Elector) IsLeader(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := e.leads()
	return err
}

// leads returns the lease of the leader. The caller has locked mu.
func (e *Elector) leads() (*holdfast.Lease, error) {
	err := fmt.Errorf("%w of %q", ErrNotLeader, e.name)
	var held *holdfast.HeldError
	switch {
	case e.closed:
		return nil, fmt.Errorf("%w: the elector is closed", err)
	case e.lease != nil && e.lease.Context().Err() == nil:
		return e.lease, nil
	case e.lease != nil:
		return nil, fmt.Errorf("%w: %w", err, context.Cause(e.lease.Context()))
	case errors.As(e.waits, &held):
		return nil, fmt.Errorf("%w: %s is", err, held.Holder())
	case e.waits != nil:
		return nil, fmt.Errorf("%w: %w", err, e.waits)
	}
	return nil, fmt.Errorf("%w: the nodes have not answered yet", err)
}

// Task returns a task whose context ends when this process is not the leader any more, before another process can
// become the leader. It also ends when gocron stops the job. [holdfast.FromContext] returns the lease, for its token.
// If this process is not the leader when the task begins, fn does not run, and the error matches [ErrNotLeader].
//
// If fn returns nil after the leadership was lost, the error of the task matches [holdfast.ErrLost]. If fn returns an
// error after gocron or Close stopped the task, it also matches [job.ErrInterrupted].
func (e *Elector) Task(fn func(ctx context.Context) error) gocron.Task {
	if fn == nil {
		panic("holdfastgocron: Elector.Task: nil function")
	}
	return gocron.NewTask(func(ctx context.Context) error {
		e.mu.Lock()
		lease, err := e.leads()
		if err != nil {
			e.mu.Unlock()
			return err
		}
		stopped, cancel := context.WithCancelCause(ctx)
		e.cancel[&cancel] = struct{}{}
		e.tasks.Add(1)
		e.mu.Unlock()
		defer e.tasks.Done()
		defer func() {
			e.mu.Lock()
			delete(e.cancel, &cancel)
			e.mu.Unlock()
			cancel(nil)
		}()
		// Until makes a context that looks at the lease's clock. A context of context.WithCancel does not.
		work := job.Func(func(ctx context.Context, _ job.Tick) error { return fn(ctx) }).Until(stopped)
		if err = work(lease.Context(), job.Tick{}); err == nil && lease.Context().Err() != nil {
			err = context.Cause(lease.Context())
		}
		return err
	})
}

// Close ends the campaign. A leader ends the contexts of its tasks, waits for the tasks to return, and then releases
// the lock, so that another process leads at once. Call it after the scheduler's Shutdown, and before the client's
// Close.
func (e *Elector) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stop()
	<-e.ended
}
