package nodetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// The scripts that an Eval loads must reach the server that answered the Eval. So a driver must send them after the
// answer, over the same connection. Otherwise they may reach a server that was started in place of the first one.
// Holdfast would then not notice the restart, because it detects a restart by missing scripts.

func (s suite) evalLoadsNothingAfterAnError(t *testing.T) {
	_, n := s.start(t)
	for i, script := range []string{
		`return redis.error_reply('OTHERRUN is not meant')`,
		`return redis.error_reply('ERR plain')`,
		`return redis.call('NOSUCHCOMMAND')`,
		`return {'a', 'b'}`,
		`return (`,
	} {
		behind := fmt.Sprintf("return 'behind %d'", i)
		if r := n.Eval(within(t, patience), script, node.Call{}, behind); r.Err == nil {
			t.Errorf("%s: %q, want an error", script, r.Value)
		}
		if r := one(t, n, call(behind)); node.Code(r.Err) != node.NoScript {
			t.Errorf("%s: what was to be loaded behind it answers %q, %v; want %s", script, r.Value, r.Err, node.NoScript)
		}
	}
}

// attentive is a server that records its commands for each connection.
type attentive struct {
	mu     sync.Mutex
	asked  [][]string // the commands EVAL and LOAD with their texts, by connection and in the order in which they came
	early  []string   // scripts of EVALs whose client sent more before it had the answer
	answer string     // its answer to an EVAL
	hangUp bool       // it closes the connection after that answer
}

func (a *attentive) talk(c net.Conn) {
	a.mu.Lock()
	number := len(a.asked)
	a.asked = append(a.asked, nil)
	a.mu.Unlock()
	in := bufio.NewReader(c)
	note := func(what, text string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked[number] = append(a.asked[number], what+" "+text)
	}
	for {
		command, err := readCommand(in)
		if err != nil || len(command) == 0 {
			return
		}
		answer, known := manners{greets: true}.handshake(command)
		evaluates := !known && strings.EqualFold(command[0], "EVAL")
		switch {
		case known:
		case evaluates:
			note("EVAL", command[1])
			if a.restless(c, in) {
				a.mu.Lock()
				a.early = append(a.early, command[1])
				a.mu.Unlock()
			}
			answer = a.answer
		case strings.EqualFold(command[0], "SCRIPT"):
			note("LOAD", command[2])
			answer = "$40\r\n" + sha(command[2]) + "\r\n"
		default:
			answer = "-NOSCRIPT of this I know nothing\r\n"
		}
		if _, err := io.WriteString(c, answer); err != nil || evaluates && a.hangUp {
			return
		}
	}
}

// restless reports whether the client sends more data within 50 ms, before it has its answer.
func (a *attentive) restless(c net.Conn, in *bufio.Reader) bool {
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	_, err := in.Peek(1)
	return err == nil
}

// several runs several Evals at the same time, so that a driver uses several connections if it can.
func (a *attentive) several(t *testing.T, n node.Node) []node.Reply {
	replies := make([]node.Reply, 3)
	var wait sync.WaitGroup
	for range 2 {
		for i := range replies {
			wait.Go(func() {
				replies[i] = n.Eval(within(t, patience), fmt.Sprint("script ", i), node.Call{}, fmt.Sprint("load ", i), fmt.Sprint("more ", i))
			})
		}
		wait.Wait()
	}
	return replies
}

func (s suite) evalLoadsWhenItIsAnswered(t *testing.T) {
	for answer, loads := range map[string]int{
		"$3\r\nyes\r\n": 12, "$-1\r\n": 12, ":7\r\n": 12, "*1\r\n:7\r\n": 0,
		"-LOADING it reads its data\r\n": 0, "-OTHERRUN is not meant\r\n": 0, "-ERR plain\r\n": 0,
	} {
		t.Run(fmt.Sprintf("%q", answer), func(t *testing.T) {
			t.Parallel()
			a := &attentive{answer: answer}
			n := s.node(t, serve(t, a.talk))
			for _, r := range a.several(t, n) {
				if (r.Err == nil) != (loads > 0) {
					t.Errorf("%q, %v", r.Value, r.Err)
				}
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			if len(a.early) > 0 {
				t.Errorf("before the answer to %q more was said", a.early)
			}
			if got := a.loads(t); got != loads {
				t.Errorf("%d scripts were loaded, want %d", got, loads)
			}
		})
	}
}

func (s suite) evalLoadsWhereItWasAnswered(t *testing.T) {
	a := &attentive{answer: "$3\r\nyes\r\n", hangUp: true}
	n := s.node(t, serve(t, a.talk))
	for _, r := range a.several(t, n) {
		if r.Err == nil || node.Unsent(r.Err) {
			t.Errorf("%q, %v; want an error after what may have been executed", r.Value, r.Err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if got := a.loads(t); got != 0 {
		t.Errorf("%d scripts were loaded over connections that never brought an answer: %q", got, a.asked)
	}
}

// loads returns the number of loaded scripts. Each script must come after its own EVAL on the same connection. The
// caller has locked a.mu.
func (a *attentive) loads(t *testing.T) (n int) {
	t.Helper()
	for _, asked := range a.asked {
		for i, what := range asked {
			text, load := strings.CutPrefix(what, "LOAD ")
			if !load {
				continue
			}
			n++
			own := "EVAL script" + strings.TrimPrefix(strings.TrimPrefix(text, "load"), "more")
			if !slices.Contains(asked[:i], own) {
				t.Errorf("%q was loaded over another connection than the answer came from: %q", text, asked)
			}
		}
	}
	return n
}
