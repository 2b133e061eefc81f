package setnx_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/internal/parentdeath"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

const workerEnv = "HOLDFAST_SETNX_WORKER"

// TestMain runs the tests, or a worker process of Go.
func TestMain(m *testing.M) {
	if words := strings.Fields(os.Getenv(workerEnv)); len(words) > 0 {
		if err := work(words); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// add writes the new value and its log entry in one step. The reading before it is not part of it.
const add = "redis.call('set', KEYS[1], ARGV[1]) redis.call('rpush', KEYS[2], ARGV[1] .. ' ' .. ARGV[2]) return 1"

// work does what testdata/pattern.bash does, with this package. It has the same arguments.
func work(words []string) error {
	port, key, counter, me := words[0], words[1], words[2], words[4]
	target, err := strconv.Atoi(words[3])
	if err != nil {
		return err
	}
	timeout, err := time.ParseDuration(words[5] + "s")
	if err != nil {
		return err
	}
	nodes, err := rueidisnode.Open("redis://127.0.0.1:" + port)
	if err != nil {
		return err
	}
	c, err := setnx.New(setnx.Config{Node: nodes[0], TTL: timeout, Poll: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	defer c.Close()
	db := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, MaxRetries: -1})
	defer db.Close()
	for n, over := 1, false; !over; n++ {
		err := c.Mutex(key).Do(context.Background(), func(ctx context.Context) error {
			now, err := db.Get(ctx, counter).Int()
			if err != nil && err != redis.Nil {
				return err
			}
			if now >= target {
				over = true
				return nil
			}
			if err := db.Eval(ctx, add, []string{counter, counter + ":log"}, now+1, me).Err(); err != nil {
				return err
			}
			if strconv.Itoa(n) == words[6] {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return nil
		})
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(n%5) * time.Millisecond) // otherwise the poller that released polls first, too
	}
	return nil
}

// crowd is a number of processes of both kinds.
type crowd struct {
	scripts, ours, kills int // kills: of holders of each kind
	target               int
}

// lost is what the log of a crowd's increments shows.
type lost struct {
	scripts, ours     int // increments that were overwritten because a process of this kind did not exclude another one
	byScripts, byOurs int // increments
}

// run lets the crowd count. Each killed holder is replaced by a new process.
func (c crowd) run(t *testing.T) (l lost) {
	t.Helper()
	if _, err := exec.LookPath("redis-cli"); err != nil {
		t.Fatalf("%v; install redis-tools: apt-get install redis-tools", err)
	}
	s := redistest.Start(t)
	_, port, _ := strings.Cut(s.Addr(), ":")
	var wait sync.WaitGroup
	var kills atomic.Int64
	start := func(kind string, i, die int) {
		args := []string{port, "lock.foo", "counter", strconv.Itoa(c.target), kind + strconv.Itoa(i), "2", strconv.Itoa(die)}
		command := func(die int) *exec.Cmd {
			args[6] = strconv.Itoa(die)
			if kind == "script" {
				return exec.Command("bash", append([]string{"testdata/pattern.bash"}, args...)...)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), workerEnv+"="+strings.Join(args, " "))
			return cmd
		}
		wait.Go(func() {
			for _, die := range []int{die, 0} {
				cmd := command(die)
				var errs strings.Builder
				cmd.Stderr = &errs
				if err := parentdeath.Start(cmd); err != nil {
					t.Error(err)
					return
				}
				timer := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
				err := cmd.Wait()
				timer.Stop()
				if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); die > 0 && ok && status.Signal() == syscall.SIGKILL {
					kills.Add(1)
					continue // a new process takes its place
				}
				if err != nil {
					t.Errorf("%v: %v %s", args, err, errs.String())
				}
				return
			}
		})
	}
	for i := range c.scripts {
		start("script", i, max(0, (c.kills-i)*2))
	}
	for i := range c.ours {
		start("go", i, max(0, (c.kills-i)*2))
	}
	began := time.Now()
	wait.Wait()
	if want := int64(min(c.kills, c.scripts) + min(c.kills, c.ours)); kills.Load() != want {
		t.Errorf("%d holders were killed, want %d", kills.Load(), want)
	}
	seen := map[string]bool{}
	for _, entry := range s.MustDo(t, "LRANGE", "counter:log", 0, -1).([]any) {
		number, who, _ := strings.Cut(entry.(string), " ")
		isScript := strings.HasPrefix(who, "script")
		switch {
		case isScript:
			l.byScripts++
		default:
			l.byOurs++
		}
		switch {
		case !seen[number]:
		case isScript:
			l.scripts++
		default:
			l.ours++
		}
		seen[number] = true
	}
	t.Logf("%d scripts and %d Go processes, %d holders of each kind killed, %v: scripts made %d increments, Go %d; lost: %d by scripts, %d by Go",
		c.scripts, c.ours, c.kills, time.Since(began).Round(time.Millisecond), l.byScripts, l.byOurs, l.scripts, l.ours)
	if n := value(t, s, "counter"); n != strconv.Itoa(c.target) {
		t.Errorf("the counter is %s, want %d", n, c.target)
	}
	return l
}

// 16 processes count under one lock: scripts of the old pattern, and this package. Holders are killed. Nothing is lost.
// The control is the scripts alone: what they lose, the pattern loses without this package.
func TestACrowdWithTheOldPatternLosesNoIncrement(t *testing.T) {
	c, control := crowd{scripts: 8, ours: 8, kills: 4, target: 5000}, crowd{scripts: 16, kills: 4, target: 5000}
	if testing.Short() {
		c.kills, c.target, control.kills, control.target = 1, 300, 1, 300
	}
	if l := c.run(t); l.ours+l.scripts > 0 || l.byScripts == 0 || l.byOurs == 0 {
		t.Errorf("lost: %+v", l)
	}
	if l := control.run(t); l.scripts > 0 {
		t.Logf("the control lost %d increments: the pattern does that without this package", l.scripts)
	}
}
