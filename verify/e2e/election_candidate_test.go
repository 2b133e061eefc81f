package e2e

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// This file contains candidate processes: the test binary, which is started again to campaign in several elections.

// electionTTL is the TTL of the elections, the least that the window allows.
const electionTTL = 8 * window

// candidate is the work of the process. It campaigns in all elections, and prints a line when a term begins, when the
// context of a term ends, and when its callback is over, with the clock of the machine. A line "resign NAME" on stdin
// makes it resign.
func candidate(args []string) int {
	flags := flag.NewFlagSet("candidate", flag.ExitOnError)
	names := flags.String("names", "", "the elections, with commas between them")
	_ = flags.Parse(args)
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	nodes, err := rueidisnode.Open(flags.Args()...)
	if err != nil {
		say("error %v", err)
		return 1
	}
	cfg := settings()
	cfg.Nodes = nodes
	c, err := holdfast.New(cfg)
	if err != nil {
		say("error %v", err)
		return 1
	}
	defer c.Close()
	elections := map[string]*election.Election{}
	var campaigns sync.WaitGroup
	for name := range strings.SplitSeq(*names, ",") {
		e := election.New(c, name, election.WithLock(holdfast.WithTTL(electionTTL)), election.ResignPause(10*time.Millisecond))
		elections[name] = e
		campaigns.Go(func() {
			err := e.Run(ctx, func(ctx context.Context, term election.Term) error {
				say("began %s %d %d", name, term.Fence, time.Now().UnixNano())
				ended := make(chan struct{})
				context.AfterFunc(ctx, func() {
					say("ended %s %d %d", name, term.Fence, time.Now().UnixNano())
					close(ended)
				})
				_ = term.Publish(ctx, fmt.Append(nil, term.Fence)) // it fails without a quorum
				<-ended
				<-time.After(5 * time.Millisecond) // the end of the work
				say("over %s %d %d", name, term.Fence, time.Now().UnixNano())
				return nil
			})
			if ctx.Err() == nil {
				say("error %v", err)
			}
		})
	}
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "resign "); ok {
				go func() { _ = elections[name].Resign(ctx) }() // fails if the term has just been lost
			}
		}
	}()
	campaigns.Wait()
	return 0
}

// candidate starts a process whose lines the court hears.
func (s *set) candidate(t testing.TB, names []string, hear func(p *selfexec.Child, line string)) (p *selfexec.Child) {
	t.Helper()
	known := make(chan struct{}) // closed when p is set
	p = selfexec.Run(t, selfexec.Command(nil, append([]string{"candidate", "-names", strings.Join(names, ",")}, s.urls...)...), func(line string) {
		<-known
		hear(p, line)
	})
	close(known)
	return p
}
