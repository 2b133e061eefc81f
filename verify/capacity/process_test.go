//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// process is a worker process from the view of the test.
type process struct {
	t       *testing.T
	child   *selfexec.Child
	answers chan usage
}

func startWorker(t *testing.T, r role) *process {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, answers: make(chan usage, 1)}
	p.child = selfexec.Run(t, selfexec.Command([]string{roleEnv + "=" + string(text)}), func(line string) {
		var u usage
		if err := json.Unmarshal([]byte(line), &u); err == nil {
			p.answers <- u
		}
	})
	p.hear()
	return p
}

// do sends a line to the worker, and returns what it has used for it.
func (p *process) do(word string, a, b int) usage {
	p.t.Helper()
	p.begin(word, a, b)
	return p.hear()
}

func (p *process) begin(word string, a, b int) {
	p.t.Helper()
	if err := p.child.Tell(fmt.Sprint(word, " ", a, " ", b)); err != nil {
		p.t.Fatal(err)
	}
}

// visit makes the clients of the worker use each of up to 16 shards, by two calls at once: so they have as many
// connections as later on.
func (p *process) visit() {
	p.t.Helper()
	for i := range 5 {
		p.do("touch", 2*i*touches, 2*(i+1)*touches)
	}
	p.do("look", int(settled.Milliseconds()), 0)
}

// memory returns the memory of the worker.
func (p *process) memory() float64 {
	p.t.Helper()
	return p.do("weigh", 0, 0).Memory
}

// patience limits one piece of work. The first lock on a new cluster waits for a quarantine.
const patience = 10 * time.Minute

func (p *process) hear() usage {
	p.t.Helper()
	select {
	case u := <-p.answers:
		if u.Err != "" {
			p.t.Fatal("worker: ", u.Err)
		}
		return u
	case <-p.child.Gone:
		p.t.Fatal("a worker ended: ", p.child.Err)
	case <-time.After(patience):
		p.t.Fatal("a worker does not answer")
	}
	return usage{}
}

// together makes processes do the same at once.
func together(word string, a, b int, all ...*process) (u usage) {
	for _, p := range all {
		p.begin(word, a, b)
	}
	for _, p := range all {
		one := p.hear()
		u.CPU, u.Done = u.CPU+one.CPU, u.Done+one.Done
	}
	return u
}
