package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/quantile"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// lister is the work of a process that lists the locks of the nodes. After the line "on" it lists them again and again
// until the line "off". After "all" it lists them once, and prints the time.
func lister(urls []string) int {
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	config := settings()
	steady(&config)
	config.Nodes = nodes
	c, err := holdfast.New(config)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer c.Close()
	list := func(ctx context.Context) (n int) {
		for _, err := range admin.List(ctx, c, admin.ListOptions{}) {
			if err == nil {
				n++
			}
		}
		return n
	}
	stop, ended := func() {}, make(chan struct{}, 1)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case "on":
			var ctx context.Context
			ctx, stop = context.WithCancel(context.Background())
			go func() {
				for ctx.Err() == nil {
					list(ctx)
				}
				ended <- struct{}{}
			}()
			fmt.Println("on")
		case "off":
			stop()
			<-ended
			fmt.Println("off")
		case "all":
			began := time.Now()
			fmt.Println(list(context.Background()), "names in", time.Since(began).Round(time.Millisecond))
		}
	}
	stop()
	return 0
}

// A list sends small requests at an even rate, so it hardly delays the calls of other clients. The test measures single
// calls to one server, in turns: while another process lists the locks, and while it does not. `make scale` lists
// 100,000 names.
func TestAListHardlyDelaysOthers(t *testing.T) {
	if !*timed {
		t.Parallel()
	}
	rounds, calls := inShort(10, 3), 400
	s := newSet(t, 5)
	holder := s.ready(s.client(steady))
	concurrently(*manyListed, 64, func(i int) {
		_, err := holder.Mutex(fmt.Sprint("held/", i)).TryLock(context.Background())
		for ; errors.Is(err, holdfast.ErrUnavailable); _, err = holder.Mutex(fmt.Sprint("held/", i)).TryLock(context.Background()) {
		}
		if err != nil {
			t.Errorf("held/%d: %v", i, err)
		}
	})
	if t.Failed() {
		return
	}
	tell := s.lister(t)
	measure := func() (took []time.Duration) {
		for i := range calls {
			begin := time.Now()
			if _, err := s.servers[i%5].Do("GET", "x"); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(begin))
			time.Sleep(time.Millisecond) // a pace: a loop without pauses would measure its own queue
		}
		return took
	}
	var quiet, busy []time.Duration
	for range rounds {
		quiet = append(quiet, measure()...)
		tell("on")
		busy = append(busy, measure()...)
		tell("off")
	}
	stats := s.servers[0].MustDo(t, "INFO", "commandstats").(string)
	requests := regexp.MustCompile(`cmdstat_eval_ro:calls=(\d+),`).FindStringSubmatch(stats)
	if requests == nil || len(requests[1]) < 3 {
		t.Fatalf("the list has sent hardly any requests: %v", requests)
	}
	without, with := quantile.Of(quiet), quantile.Of(busy)
	for _, p := range []int{50, 75, 90, 95, 99} {
		t.Logf("p%d of a call: %v, while a list runs %v", p, without.Percentile(p), with.Percentile(p))
	}
	ratio := float64(with.Percentile(99)) / float64(without.Percentile(99))
	if *timed {
		t.Log("a whole list: ", tell("all"))
		if ratio > 1.1 {
			t.Errorf("while a list runs, the p99 of a call is %.2f times as long, want at most 1.1", ratio)
		}
	}
}

// lister starts a process that lists locks, and returns a function that sends it a line and returns its answer.
func (s *set) lister(t *testing.T) (tell func(line string) string) {
	t.Helper()
	answers := make(chan string, 1)
	p := selfexec.Run(t, selfexec.Command(nil, append([]string{"lister"}, s.urls...)...), func(line string) { answers <- line })
	return func(line string) string {
		t.Helper()
		if err := p.Tell(line); err != nil {
			t.Fatal(err)
		}
		select {
		case answer := <-answers:
			return strings.TrimSpace(answer)
		case <-p.Gone:
			t.Fatalf("the process that lists ended: %v", p.Err)
			return ""
		}
	}
}
