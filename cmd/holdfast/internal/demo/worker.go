package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// WorkerArg is the first argument of a worker process. The second is its role in JSON.
const WorkerArg = "__demo-worker"

// role contains the settings of a worker.
type role struct {
	Worker int
	Dir    string
	Nodes  []string // empty: the worker uses no lock
}

// These are the settings of the demo's lock.
const (
	lockName = "demo"
	ttl      = 2 * time.Second
	window   = ttl / 8
)

func config(urls []string) (holdfast.Config, error) {
	nodes, err := rueidisnode.Open(urls...)
	return holdfast.Config{
		Nodes: nodes, TTL: ttl, MaxTTL: ttl, Window: window, NodeTimeout: time.Second,
		Cluster: "demo", Logger: slog.New(slog.DiscardHandler),
	}, err
}

// RunWorker is the main function of a worker process. It returns when standard input ends.
func RunWorker(args []string) int {
	var r role
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &r) != nil {
		return forPeople()
	}
	if err := r.play(); err != nil {
		fmt.Fprintf(os.Stderr, "worker %d: %v\n", r.Worker, err)
		return 1
	}
	return 0
}

// worker is a running worker process.
type worker struct {
	role
	store   store
	journal *journal
	mutex   *holdfast.Mutex // nil: no lock
}

func (r role) play() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	j, err := openJournal(r.Dir)
	if err != nil {
		return err
	}
	defer j.close()
	w := &worker{role: r, store: store{r.Dir}, journal: j}
	if len(r.Nodes) > 0 {
		c, err := config(r.Nodes)
		if err != nil {
			return err
		}
		c.Label = fmt.Sprintf("worker-%d", r.Worker)
		client, err := holdfast.New(c)
		if err != nil {
			return err
		}
		defer client.Close()
		w.mutex = client.Mutex(lockName)
	}
	for ctx.Err() == nil {
		if err := w.round(ctx); err != nil {
			return err
		}
		time.Sleep(rand.N(5 * time.Millisecond))
	}
	return nil
}

// round makes one increment.
func (w *worker) round(ctx context.Context) error {
	if w.mutex == nil {
		return w.increment(nil, 0)
	}
	began := time.Now()
	lease, err := w.mutex.Lock(ctx)
	switch {
	case ctx.Err() != nil && lease == nil:
		return nil
	case errors.Is(err, holdfast.ErrUnavailable):
		return nil // too many nodes are down, so try again
	case err != nil:
		return err
	}
	w.tell(fmt.Sprintf("in %d", lease.Fence()))
	err = w.increment(lease, time.Since(began))
	if e := lease.Unlock(context.WithoutCancel(ctx)); e != nil && !errors.Is(e, holdfast.ErrLost) && !errors.Is(e, holdfast.ErrUnavailable) {
		return e
	}
	w.tell("out")
	return err
}

// increment reads the number, adds one and writes it.
func (w *worker) increment(lease *holdfast.Lease, waited time.Duration) error {
	var token int64
	if lease != nil {
		token = lease.Fence()
	}
	note := func(what string) error {
		return w.journal.note(record{what: what, at: monotonic(), worker: w.Worker, token: token, waited: int64(waited)})
	}
	if err := note(entered); err != nil {
		return err
	}
	number, err := w.store.read(token)
	if errors.Is(err, errOldToken) {
		return note(refused)
	}
	if err != nil {
		return err
	}
	w.tell("read")
	time.Sleep(10*time.Millisecond + rand.N(20*time.Millisecond)) // simulates work
	w.tell("writes")
	// This is the first protection: the worker checks the clock before it writes, because it may have been frozen for
	// long.
	if lease != nil && (lease.Context().Err() != nil || !time.Now().Before(lease.Deadline())) {
		w.tell("noticed")
		if err := note(noticed); err != nil {
			return err
		}
		return w.prove(number+1, token, note)
	}
	// This is the second protection: the worker may be frozen again between that check and the write. So the file
	// compares the token.
	err = w.store.write(number+1, token)
	switch {
	case errors.Is(err, errOldToken):
		w.tell("refused")
		return note(refused)
	case err != nil:
		return err
	}
	w.tell("wrote")
	return note(wrote)
}

// tell prints an event under the lock for the demo.
func (w *worker) tell(line string) {
	if w.mutex != nil {
		fmt.Println(line)
	}
}

// prove sends a write with an old token after another worker was inside. A worker that did not check the clock would
// have sent this write. The file must refuse it.
func (w *worker) prove(number, token int64, note func(string) error) error {
	highest, err := w.store.highest()
	if err != nil || highest <= token {
		return err
	}
	if err := w.store.write(number, token); !errors.Is(err, errOldToken) {
		w.tell("accepted")
		return note(accepted)
	}
	w.tell(fmt.Sprintf("rejected %d %d", token, highest))
	return note(rejected)
}
