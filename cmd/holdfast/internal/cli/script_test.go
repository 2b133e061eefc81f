package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// patienceInTests limits every wait of a script.
const patienceInTests = time.Minute

// commands are the commands of scripts beside those of testscript. ID names a process in the background.
//
//	exits CODE COMMAND…     runs the command; stdout and stderr are compared as after exec
//	silent                  fails if stderr has more than the message of a busy process
//	start ID COMMAND…       runs the command in the background, with output in ID.out and ID.err
//	start -unread ID …      the same, but stderr is a pipe that is full
//	start -unread-both ID … the same, but stdout and stderr are a pipe that is full
//	read ID                 reads that pipe from now on, into ID.err
//	signal ID SIGNAL        sends a signal to the process
//	finish ID CODE          waits for the end of the process
//	await FILE REGEXP       waits until a line of the file matches
//	gone FILE               waits until the process whose id is in the file has ended
//	hang FILE               makes the file one that does not answer; on Linux only
//	timer                   starts the clock
//	timer MIN MAX           fails unless that much time has passed
//	json PATH REGEXP        fails unless the last stdout is one JSON document with a matching value
//	as USER                 replaces the user of HOLDFAST_NODES; its password is secret
//	get ID PATH CODE REGEXP waits until the endpoint of --metrics-listen of the process answers with CODE and such a text;
//	                        ! get waits until it answers with CODE and no such text
//	redis …                 see redisCommand
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"exits": exitsCommand, "silent": silentCommand, "start": startCommand, "signal": signalCommand, "finish": finishCommand,
	"read": readCommand, "await": awaitCommand, "gone": goneCommand, "timer": timerCommand, "json": jsonCommand, "redis": redisCommand,
	"as": asCommand, "get": getCommand,
}

// state is the set of processes and servers of one script.
type state struct {
	t       testing.TB
	servers []*redistest.Server
	cluster *redistest.Cluster
	running map[string]*exec.Cmd
	unread  map[string]*os.File
	timer   time.Time
}

func setUp(env *testscript.Env) error {
	s := &state{t: env.T().(testing.TB), running: map[string]*exec.Cmd{}, unread: map[string]*os.File{}}
	env.Values["state"] = s
	env.Setenv("GORACE", "atexit_sleep_ms=0") // by default the race detector sleeps as long as a script's whole TTL
	env.Setenv("GOCOVERDIR", os.Getenv("GOCOVERDIR"))
	// A short MaxTTL keeps quarantines short. The window is wide and the node timeout long, so that a call that waits
	// for a processor is neither late nor timed out. The settings of other programs must not reach the script.
	env.Setenv("HOLDFAST_MAX_TTL", "4s")
	env.Setenv("HOLDFAST_WINDOW", "250ms")
	env.Setenv("TEST_NODE_TIMEOUT", "1s")
	for _, v := range []string{"HOLDFAST_NODES_FILE", "HOLDFAST_CACERT", "HOLDFAST_CERT", "HOLDFAST_KEY", "HOLDFAST_CLUSTER", "HOLDFAST_DURABLE", "HOLDFAST_QUIET", "HOLDFAST_NAME", "HOLDFAST_OWNER", "HOLDFAST_OWNERS", "HOLDFAST_FENCE", "HOLDFAST_FENCES", "HOLDFAST_GROUP"} {
		env.Setenv(v, "")
	}
	env.Defer(func() {
		for _, cmd := range s.running {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		for _, r := range s.unread {
			_ = r.Close()
		}
	})
	return nil
}

func of(ts *testscript.TestScript) *state { return ts.Value("state").(*state) }

func need(ts *testscript.TestScript, neg, ok bool, form string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", form)
	}
}

func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "exits CODE COMMAND…")
	checkExit(ts, ts.Exec(args[1], args[2:]...), args[0])
}

func silentCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 0, "silent")
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		if !strings.HasPrefix(line, "holdfast: this process is busy: ") {
			ts.Fatalf("stderr has %q", line)
		}
	}
}

func checkExit(ts *testscript.TestScript, err error, want string) {
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			ts.Fatalf("ended by %s", status.Signal())
		}
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

func startCommand(ts *testscript.TestScript, neg bool, args []string) {
	both := len(args) > 0 && args[0] == "-unread-both"
	unread := both || len(args) > 0 && args[0] == "-unread"
	if unread {
		args = args[1:]
	}
	need(ts, neg, len(args) >= 2, "start [-unread|-unread-both] ID COMMAND…")
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{}
	for _, v := range []string{"PATH", "HOME", "TMPDIR", "WORK", "GORACE", "GOCOVERDIR", "HOLDFAST_NODES", "HOLDFAST_NODES_FILE", "HOLDFAST_MAX_TTL", "HOLDFAST_WINDOW", "HOLDFAST_CLUSTER", "TEST_DEFAULT_NODE", "TEST_NODE_TIMEOUT"} {
		if value := ts.Getenv(v); value != "" { // an empty HOLDFAST_NODES must not be set
			cmd.Env = append(cmd.Env, v+"="+value)
		}
	}
	out, err := os.Create(ts.MkAbs(args[0] + ".out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(ts.MkAbs(args[0] + ".err"))
	ts.Check(err)
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	if unread {
		r, w := fullPipe(ts)
		defer w.Close()
		if of(ts).unread[args[0]], cmd.Stderr = r, w; both {
			cmd.Stdout = w
		}
	}
	ts.Check(cmd.Start())
	of(ts).running[args[0]] = cmd
}

func process(ts *testscript.TestScript, id string) *exec.Cmd {
	cmd := of(ts).running[id]
	if cmd == nil {
		ts.Fatalf("nothing is called %s", id)
	}
	return cmd
}

var signalNumbers = map[string]syscall.Signal{
	"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT, "KILL": syscall.SIGKILL,
	"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
}

func signalCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2 && signalNumbers[args[1]] != 0, "signal ID SIGNAL")
	ts.Check(process(ts, args[0]).Process.Signal(signalNumbers[args[1]]))
}

func finishCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "finish ID CODE")
	cmd := process(ts, args[0])
	late := time.AfterFunc(patienceInTests, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	late.Stop()
	delete(of(ts).running, args[0])
	ts.Logf("[%s.out]\n%s[%s.err]\n%s", args[0], ts.ReadFile(args[0]+".out"), args[0], ts.ReadFile(args[0]+".err"))
	if args[1] == "KILL" {
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
			ts.Fatalf("%v, want SIGKILL", cmd.ProcessState)
		}
		return
	}
	checkExit(ts, err, args[1])
}

// eventually polls, because the events happen in other processes.
func eventually(ts *testscript.TestScript, what string, ok func() bool) {
	for deadline := time.Now().Add(patienceInTests); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("not within %s: %s", patienceInTests, what)
		}
	}
}

func awaitCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "await FILE REGEXP")
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	eventually(ts, fmt.Sprintf("%s has %s", args[0], args[1]), func() bool {
		text, err := os.ReadFile(path)
		return err == nil && re.Match(text)
	})
}

func goneCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "gone FILE")
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	eventually(ts, fmt.Sprintf("process %d is gone", pid), func() bool {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		return err == nil && strings.Contains(string(stat), ") Z ")
	})
}

func timerCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 0 || len(args) == 2, "timer [MIN MAX]")
	if len(args) == 0 {
		of(ts).timer = time.Now()
		return
	}
	took := time.Since(of(ts).timer)
	least, err := time.ParseDuration(args[0])
	ts.Check(err)
	most, err := time.ParseDuration(args[1])
	ts.Check(err)
	if took < least || took > most {
		ts.Fatalf("%s have passed, want %s to %s", took.Round(time.Millisecond), least, most)
	}
}

// jsonCommand looks up a value. For example, nodes.0.calls is the key calls of the first element of nodes.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "json PATH REGEXP")
	re, err := regexp.Compile("^(?:" + args[1] + ")$")
	ts.Check(err)
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for key := range strings.SplitSeq(args[0], ".") {
		switch in := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = in[key]; !ok {
				ts.Fatalf("%s: there is no key %s", args[0], key)
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(in) {
				ts.Fatalf("%s: there is no %s among %d values", args[0], key, len(in))
			}
			v = in[i]
		default:
			ts.Fatalf("%s: %v has no %s", args[0], v, key)
		}
	}
	got, err := json.Marshal(v)
	ts.Check(err)
	if !re.Match(got) {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

// redisCommand runs redis-server processes. N is their number, and I are indices.
//
//	redis start N           starts N servers that vote, as HOLDFAST_NODES, NODE0, NODE1… and NODE0_ADDR…
//	redis start N new       starts N servers for which nobody has vouched
//	redis cluster N M       starts a Redis Cluster of N masters with M replicas each, as HOLDFAST_NODES and NODE0…
//	redis move NAME I       moves the hash slot of a name to server I
//	redis failover I        makes a replica the master in place of server I
//	redis kill|restart|freeze|thaw I…
//	redis do I COMMAND…     runs the command; its reply is the script's stdout
//	redis await I REPLY COMMAND…   waits until the command has this reply
//	redis listeners N       waits until N clients listen for a hand-off on each server
//	redis acl I FLAGS…      makes the user of holdfast acl FLAGS
func redisCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "redis start|kill|restart|freeze|thaw|do …")
	s := of(ts)
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		ts.Check(err)
		return n
	}
	switch args[0] {
	case "start":
		s.servers = redistest.StartN(s.t, number(args[1]))
		var urls []string
		for i, server := range s.servers {
			ts.Setenv(fmt.Sprintf("NODE%d", i), server.URL())
			ts.Setenv(fmt.Sprintf("NODE%d_ADDR", i), server.Addr())
			urls = append(urls, server.URL())
		}
		ts.Setenv("HOLDFAST_NODES", strings.Join(urls, ","))
		if len(args) == 2 {
			// A busy machine may answer the first vouchers too late. Then the next ones count.
			eventually(ts, "the nodes vote", func() bool { return ts.Exec("holdfast", "nodes", "trust", "--yes") == nil })
		}
	case "cluster":
		need(ts, neg, len(args) == 3, "redis cluster N M")
		s.cluster = redistest.StartCluster(s.t, number(args[1]), number(args[2]))
		s.servers = s.cluster.Servers()
		for i, server := range s.servers {
			ts.Setenv(fmt.Sprintf("NODE%d", i), server.URL())
			ts.Setenv(fmt.Sprintf("NODE%d_ADDR", i), server.Addr())
		}
		ts.Setenv("HOLDFAST_NODES", "redis+cluster://"+strings.Join(s.cluster.Addrs(), ","))
	case "move":
		need(ts, neg, len(args) == 3, "redis move NAME I")
		ts.Check(s.cluster.MoveSlot(s.t.Context(), redistest.Slot(args[1]), s.servers[number(args[2])]))
	case "failover":
		_, err := s.cluster.Failover(s.t.Context(), s.servers[number(args[1])])
		ts.Check(err)
	case "do":
		reply := s.servers[number(args[1])].MustDo(s.t, anys(args[2:])...)
		fmt.Fprintln(ts.Stdout(), reply)
	case "acl":
		ts.Check(ts.Exec("holdfast", append([]string{"acl", "--form", "setuser"}, args[2:]...)...))
		s.servers[number(args[1])].MustDo(s.t, anys(strings.Fields(ts.ReadFile("stdout")))...)
	case "await":
		need(ts, neg, len(args) > 3, "redis await I REPLY COMMAND…")
		server := s.servers[number(args[1])]
		eventually(ts, fmt.Sprintf("%v replies %s", args[3:], args[2]), func() bool {
			return fmt.Sprint(server.MustDo(s.t, anys(args[3:])...)) == args[2]
		})
	case "listeners":
		need(ts, neg, len(args) == 2, "redis listeners N")
		eventually(ts, args[1]+" clients listen for a hand-off on each node", func() bool {
			return !slices.ContainsFunc(s.servers, func(server *redistest.Server) bool {
				channels, _ := server.MustDo(s.t, "PUBSUB", "CHANNELS", "holdfast:inbox:*").([]any)
				return len(channels) != number(args[1])
			})
		})
	default:
		do := map[string]func(*redistest.Server){
			"kill": (*redistest.Server).Kill, "restart": (*redistest.Server).Restart,
			"freeze": (*redistest.Server).Freeze, "thaw": (*redistest.Server).Thaw,
		}[args[0]]
		need(ts, neg, do != nil, "redis start|kill|restart|freeze|thaw|do …")
		for _, i := range args[1:] {
			do(s.servers[number(i)])
		}
	}
}

// asCommand sets HOLDFAST_NODES to the servers, with a user.
func asCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "as USER")
	var urls []string
	for _, server := range of(ts).servers {
		urls = append(urls, strings.Replace(server.URL(), "://", "://"+args[0]+":secret@", 1))
	}
	ts.Setenv("HOLDFAST_NODES", strings.Join(urls, ","))
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
