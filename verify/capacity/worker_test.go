//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// roleEnv is the variable of the environment that makes the test binary a worker.
const roleEnv = "HOLDFAST_CAPACITY_WORKER"

// role contains the settings of a worker process. Its clients do what the lines of its input say.
type role struct {
	URL     string
	Clients int
	TTL     time.Duration
}

// usage is what a worker prints after each line of its input.
type usage struct {
	Done   int     // of the work, such as the number of cycles
	CPU    float64 // of the process during the work, µs
	Memory float64 // of the process, bytes: the answer to "weigh"
	Err    string  `json:",omitempty"`
}

// worker is a process with some clients.
type worker struct {
	role
	clients []*holdfast.Client
	mu      sync.Mutex
	held    map[int]*holdfast.Lease
	waits   sync.WaitGroup
	end     context.CancelFunc // of the waits
	cluster node.Cluster       // of rounds
}

// beWorker runs a worker and ends the process, if the environment says so.
func beWorker() {
	text := os.Getenv(roleEnv)
	if text == "" {
		return
	}
	w := worker{held: map[int]*holdfast.Lease{}, end: func() {}}
	err := json.Unmarshal([]byte(text), &w.role)
	for range w.Clients {
		if err == nil {
			err = w.open()
		}
	}
	say(usage{}, err)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		before := used()
		done, err := w.work(strings.Fields(lines.Text()))
		u := usage{Done: done, CPU: used() - before}
		if strings.HasPrefix(lines.Text(), "weigh") {
			u.Memory = weigh()
		}
		say(u, err)
	}
	os.Exit(0)
}

func (w *worker) open() error {
	nodes, err := rueidisnode.Open(w.URL)
	if err != nil {
		return err
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: nodes, TTL: w.TTL, MaxTTL: w.TTL, NodeTimeout: min(5*time.Second, w.TTL), // a busy machine answers late
	})
	w.clients = append(w.clients, c)
	return err
}

// used returns the CPU of the process so far, in µs.
func used() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it has no error for this process
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e3
}

// weigh returns the live heap and the stacks. The collections are part of no work, so only "weigh" makes them.
func weigh() float64 {
	for range 3 { // objects with a cleanup are freed only by a later collection
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// say prints the usage after a piece of work.
func say(u usage, err error) {
	if err != nil {
		u.Err = err.Error()
	}
	b, _ := json.Marshal(u) // numbers and text
	fmt.Println(string(b))
}

// work carries out a line: a word, and two numbers.
func (w *worker) work(words []string) (done int, err error) {
	a, err1 := strconv.Atoi(words[1])
	b, err2 := strconv.Atoi(words[2])
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	of := func(i int) *holdfast.Client { return w.clients[i%len(w.clients)] }
	switch words[0] {
	case "look": // for a milliseconds
		time.Sleep(time.Duration(a) * time.Millisecond)
	case "hold": // the names a … b−1
		return each(many, a, b, func(i int) error {
			l, err := of(i).Mutex(name(i), holdfast.WaitThroughOutages()).Lock(context.Background())
			w.mu.Lock()
			defer w.mu.Unlock()
			w.held[i] = l
			return err
		})
	case "release": // the names a … b−1
		return each(many, a, b, func(i int) error {
			w.mu.Lock()
			l := w.held[i]
			delete(w.held, i)
			w.mu.Unlock()
			return unlock(l)
		})
	case "touch": // every client, a name in the slot of each of the keys a … b−1, all at once
		return each(few, 0, len(w.clients), func(i int) error {
			_, err := each(b-a, a, b, func(key int) error {
				tagged := fmt.Sprintf("{%d}/%d/%d", key, os.Getpid(), i)
				l, err := w.clients[i].Mutex(tagged, holdfast.WaitThroughOutages()).Lock(context.Background())
				if err != nil {
					return err
				}
				return unlock(l)
			})
			return err
		})
	case "rounds": // a questions for the topology, by a driver without a client
		return a, w.rounds(a)
	case "wait": // for the names a … b−1 too, until "leave"
		return b - a, w.wait(a, b)
	case "leave":
		w.end()
		w.waits.Wait()
	case "cycle": // a goroutines, b milliseconds
		return w.loop(a, b, func(i, n int) string { return "cycle/" + strconv.Itoa(i*1000+n%50) })
	case "swap": // the same, each goroutine on one name
		return w.loop(a, b, func(i, _ int) string { return "swap/" + strconv.Itoa(i) })
	}
	return 0, nil
}

// unlock releases a lease. On a busy machine the release may be late. The lease then ends with its TTL.
func unlock(l *holdfast.Lease) error {
	err := l.Unlock(context.Background())
	if errors.Is(err, holdfast.ErrUnavailable) || errors.Is(err, holdfast.ErrLost) {
		return nil
	}
	return err
}

func name(i int) string { return "order/" + strconv.Itoa(i) }

// many and few are numbers of goroutines. Clients that begin all at once delay each other for longer than a window.
const many, few = 64, 4

// each runs f for a … b−1 on some goroutines. It returns the number of calls and the first error.
func each(goroutines, a, b int, f func(i int) error) (int, error) {
	var next atomic.Int64
	next.Store(int64(a))
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for g := range errs {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < b && errs[g] == nil; i = int(next.Add(1)) - 1 {
				errs[g] = f(i)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return b - a, err
		}
	}
	return b - a, nil
}
