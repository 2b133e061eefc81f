//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/verify/chaos"
)

// patience limits one wait for a lock.
const patience = 10 * time.Second

// roleEnv is the variable of the environment that makes the test binary a worker.
const roleEnv = "HOLDFAST_CLUSTER_WORKER"

// role contains the settings of a worker process, which takes locks of the names until its input ends.
type role struct {
	Process   int
	System    string
	Addrs     []string
	Names     []string
	TTL       time.Duration
	Counters  string // the path of the file
	ClassPath string // of Java
}

// line is what a worker prints: a stay, or the reason for which a call failed.
type line struct {
	Stay *stay  `json:",omitempty"`
	Note string `json:",omitempty"`
}

// beWorker runs a worker and ends the process, if the environment says so.
func beWorker() {
	text := os.Getenv(roleEnv)
	if text == "" {
		return
	}
	if err := work(text); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func work(text string) error {
	var w worker
	if err := json.Unmarshal([]byte(text), &w.role); err != nil {
		return err
	}
	var err error
	if w.kind, err = systemNamed(w.System); err != nil {
		return err
	}
	if w.counters, err = openCounters(w.Counters); err != nil {
		return err
	}
	if w.system, err = w.kind.open(w.role); err != nil {
		return err
	}
	defer w.system.Close()
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var wg sync.WaitGroup
	errs := make([]error, loops)
	for i := range errs {
		wg.Go(func() { errs[i] = w.run(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// loops is the number of goroutines of a process that lock. Somebody then always waits for each name, so a gap without
// a holder is the fault's.
const loops = 3

type worker struct {
	role
	kind     kind
	system   system
	counters counters
}

func (w *worker) run(ctx context.Context) error {
	for ctx.Err() == nil {
		name := rand.IntN(len(w.Names))
		wait, cancel := context.WithTimeout(ctx, patience)
		hold, token, unlock, err := w.system.Lock(wait, w.Names[name])
		cancel()
		if err != nil {
			if ctx.Err() == nil {
				w.note("lock", err)
				rest(ctx, 50*time.Millisecond)
			}
			continue
		}
		s := stay{Name: name, Process: w.Process, Token: token, Enter: chaos.Monotonic()}
		err = w.inside(ctx, hold, &s)
		s.Leave = leave(hold, s.Enter)
		say(line{Stay: &s})
		// The stay has ended, so its unlock may be late, or fail.
		bounded, cancel := context.WithTimeout(context.Background(), patience/2)
		if err := unlock(bounded); err != nil {
			w.note("unlock", err)
		}
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// inside increments the counter of a name. It returns only errors of the counter.
func (w *worker) inside(ctx, hold context.Context, s *stay) error {
	was, err := w.counters.read(s.Name)
	if err != nil {
		return err
	}
	select {
	case <-time.After(w.length()):
	case <-hold.Done():
	case <-ctx.Done():
	}
	if deadline, ok := hold.Deadline(); hold.Err() != nil || ok && !time.Now().Before(deadline) {
		s.Lost = true
		return nil
	}
	s.Wrote = true
	return w.counters.write(s.Name, was+1)
}

// length returns the time for which a process stays inside: mostly short, often most of a TTL, and sometimes longer than a
// TTL if the lock is renewed. A cluster needs two or three seconds to recover from a fault, and another process can get
// the lock by mistake only after that. So most of the time somebody stays for longer.
func (w *worker) length() time.Duration {
	switch n := rand.IntN(100); {
	case n < 3 && w.kind.renews:
		return rand.N(2 * w.TTL)
	case n < 25:
		return w.TTL/2 + rand.N(w.TTL*2/5)
	}
	return 2*time.Millisecond + rand.N(15*time.Millisecond)
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// varying are the parts of an error that differ each time, such as addresses and slots, and all space.
var varying = regexp.MustCompile(`@[0-9a-f]+|[0-9]+|\s+`)

// note prints why a call failed.
func (w *worker) note(call string, err error) {
	text := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		text = "not in time"
	}
	text = varying.ReplaceAllStringFunc(text, func(part string) string {
		if strings.TrimSpace(part) == "" {
			return " "
		}
		return "#"
	})
	say(line{Note: call + ": " + text[:min(len(text), 240)]})
}

func say(l line) {
	b, err := json.Marshal(l)
	if err != nil {
		panic(err) // the fields are numbers and text
	}
	_, _ = os.Stdout.Write(append(b, '\n')) // one write call, so that a killed process reports all or nothing
}
