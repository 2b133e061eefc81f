package interop

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

const workerEnv = "HOLDFAST_INTEROP_WORKER"

// TestMain runs the tests, or a worker process: see [worker.start].
func TestMain(m *testing.M) {
	if words := strings.Fields(os.Getenv(workerEnv)); len(words) > 0 {
		if err := work(words); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if words := strings.Fields(os.Getenv(peerEnv)); len(words) > 0 {
		if err := servePeer(words); err != nil {
			fmt.Fprintln(os.Stderr, "peer:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// add writes the new value and its log entry in one step. The reading before it is not part of it.
const add = "redis.call('set', KEYS[1], ARGV[1]) redis.call('rpush', KEYS[2], ARGV[1] .. ' ' .. ARGV[2]) return 'ok'"

// work increments a counter under the lock until it has the target, as the command work of the Java side.
func work(words []string) error {
	addrs, name, counter, me := strings.Split(words[0], ","), words[1], words[2], words[4]
	target, err := strconv.Atoi(words[3])
	if err != nil {
		return err
	}
	ttl, err := time.ParseDuration(words[5])
	if err != nil {
		return err
	}
	var urls []string
	for _, a := range addrs {
		urls = append(urls, "redis://"+a)
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		return err
	}
	c, err := redisson.New(redisson.Config{Nodes: nodes, TTL: ttl})
	if err != nil {
		return err
	}
	defer c.Close()
	db := redis.NewClient(&redis.Options{Addr: addrs[0], MaxRetries: -1})
	defer db.Close()
	for over := false; !over; {
		err := c.Mutex(name).Do(context.Background(), func(ctx context.Context) error {
			now, err := db.Get(ctx, counter).Int()
			if err != nil && err != redis.Nil {
				return err
			}
			if now >= target {
				over = true
				return nil
			}
			return db.Eval(ctx, add, []string{counter, counter + ":log"}, now+1, me).Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// worker is a process that increments a counter: of Go, or of Java.
type worker struct {
	kill func()
	done <-chan struct{} // it ended by itself
}

func goWorker(t testing.TB, servers []*redistest.Server, name, counter string, target int, me string, ttl time.Duration) worker {
	t.Helper()
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
	}
	p := selfexec.Run(t, selfexec.Command([]string{fmt.Sprintf("%s=%s %s %s %d %s %s", workerEnv, strings.Join(addrs, ","), name, counter, target, me, ttl)}), nil)
	done := make(chan struct{})
	go func() {
		if <-p.Gone; p.Err == nil {
			close(done)
		}
	}()
	return worker{kill: p.Kill, done: done}
}

func javaWorker(t testing.TB, m mode, servers []*redistest.Server, name, counter string, target int, me string, ttl time.Duration) worker {
	t.Helper()
	p := newPeer(t, m, servers, ttl, "")
	done := make(chan struct{})
	answer := p.start("w", "work", name, counter, fmt.Sprint(target), me)
	go func() {
		if text := <-answer; strings.HasPrefix(text, "ok ") {
			close(done)
		} else if !strings.Contains(text, "the process has ended") {
			t.Errorf("worker %s: %s", me, text)
		}
	}()
	return worker{kill: p.kill, done: done}
}
