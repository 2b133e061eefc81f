package nodetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// The servers in this file are no Redis servers, or are too old, or are hostile.

// manners says how such a server behaves.
type manners struct {
	greets bool   // it does the handshake as Redis does, and sends answer for all other commands
	old    bool   // the server knows only the commands of Redis 2.4
	hangUp bool   // the server closes the connection after its first answer
	answer string // its answer to all other commands, which may be any bytes
}

// serve runs a server with these manners on loopback until the test ends.
func (m manners) serve(t testing.TB) (url string) {
	t.Helper()
	return serve(t, m.talk)
}

// serve runs a server on loopback until the test ends. It calls talk for each connection.
func serve(t testing.TB, talk func(net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns[c] = true
			mu.Unlock()
			wait.Go(func() {
				defer c.Close()
				talk(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range conns {
			c.Close()
		}
		mu.Unlock()
		wait.Wait()
	})
	return "redis://" + l.Addr().String()
}

func (m manners) talk(c net.Conn) {
	in := bufio.NewReader(c)
	for {
		command, err := readCommand(in)
		if err != nil {
			return
		}
		answer, known := m.handshake(command)
		if !known {
			answer = m.answer
		}
		if _, err := io.WriteString(c, answer); err != nil || !known && m.hangUp {
			return
		}
	}
}

// handshake returns the answer of Redis if the command belongs to the handshake.
func (m manners) handshake(command []string) (answer string, known bool) {
	if len(command) == 0 || !m.greets && !m.old {
		return "", false
	}
	switch name := strings.ToUpper(command[0]); {
	case m.old && (name == "HELLO" || name == "CLIENT" || name == "EVALSHA" || name == "EVAL" || name == "SCRIPT"):
		return "-ERR unknown command '" + command[0] + "'\r\n", true
	case name == "HELLO" && len(command) > 1 && command[1] == "3":
		return "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:3\r\n", true
	case name == "HELLO":
		return "*6\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:2\r\n", true
	case name == "PING":
		return "+PONG\r\n", true
	case name == "AUTH", name == "SELECT", name == "CLIENT":
		return "+OK\r\n", true
	}
	return "", false
}

func readCommand(in *bufio.Reader) (words []string, err error) {
	n, err := readLength(in, '*')
	for range n {
		size, err := readLength(in, '$')
		if err != nil {
			return nil, err
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(in, word); err != nil {
			return nil, err
		}
		words = append(words, string(word[:size]))
	}
	return words, err
}

func readLength(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, errors.New("not a command")
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

// suffer makes every kind of call to a server. Each call must return in time and with the right number of answers,
// and each error must say what is wrong. Otherwise the test fails.
func suffer(t testing.TB, n node.Node, patience time.Duration) {
	t.Helper()
	soundly := func(what string, call func(ctx context.Context) []error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		start := time.Now()
		errs := call(ctx)
		if took := time.Since(start); took > patience+grace {
			t.Errorf("%s returned %s after its deadline", what, took-patience)
		}
		for _, err := range errs {
			if err != nil && (strings.TrimSpace(err.Error()) == "" || strings.TrimSpace(node.Reason(err)) == "") {
				t.Errorf("%s: an error that says nothing: %#v", what, err)
			}
		}
	}
	calls := []node.Call{{SHA: sha(echo), Keys: []string{"k"}, Args: []string{"a"}}, {SHA: sha(echo)}}
	for range 2 { // the second call may get the connection that the first call left
		soundly("EvalSHA", func(ctx context.Context) (errs []error) {
			replies := n.EvalSHA(ctx, calls)
			if len(replies) != len(calls) {
				t.Errorf("EvalSHA of %d calls returned %d replies", len(calls), len(replies))
			}
			for _, r := range replies {
				errs = append(errs, r.Err)
			}
			return errs
		})
	}
	soundly("Eval", func(ctx context.Context) []error { return []error{n.Eval(ctx, echo, calls[0]).Err} })
	soundly("Eval with loads", func(ctx context.Context) []error { return []error{n.Eval(ctx, echo, calls[0], echo, echo).Err} })
	soundly("Listen", func(ctx context.Context) []error {
		err := n.Listen(ctx, "channel", func(string) {})
		if err == nil {
			t.Error("Listen returned without an error")
		}
		return []error{err}
	})
}

// hostilities are answers at which a client library failed, or may fail.
var hostilities = []string{
	"", "\r\n", "\n", "+OK\r\n", "+\r\n", "-\r\n", "-ERR\r\n", "-MOVED 1 127.0.0.1:1\r\n", ":1\r\n", ":\r\n", ":--1\r\n", "$-1\r\n", "*-1\r\n", "$0\r\n\r\n", "*0\r\n",
	"$3\r\nabc\r\n", "$3\r\nabcde", "$2\r\nab\r\n$2\r\ncd\r\n", "$-2\r\n", "*-2\r\n", "%-1\r\n", "$4294967296\r\n", "$9223372036854775807\r\n", "$9999999999999999999999\r\n",
	"*2147483647\r\n", "*9223372036854775807\r\n", "%4611686018427387904\r\n", "~1000000000\r\n", ">1000000000\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
	"_\r\n", "#t\r\n", "#x\r\n", ",1.5\r\n", ",nan\r\n", "(3492890328409238509324850943850943825024385\r\n", "!5\r\nERR x\r\n", "=7\r\ntxt:abc\r\n", "=1\r\na\r\n", "=-1\r\n",
	"%1\r\n$1\r\na\r\n:1\r\n", "%1\r\n*1\r\n:1\r\n:1\r\n", "|1\r\n$1\r\na\r\n:1\r\n+OK\r\n", ">2\r\n$10\r\ninvalidate\r\n_\r\n", "$\r\n", "*\r\n", "$?\r\n;4\r\nabcd\r\n;0\r\n", "*?\r\n.\r\n",
	">3\r\n$9\r\nsubscribe\r\n$7\r\nchannel\r\n:1\r\n", ">3\r\n$9\r\nsubscribe\r\n$7\r\nchannel\r\n:1\r\n+OK\r\n", "*3\r\n$9\r\nsubscribe\r\n$7\r\nchannel\r\n:1\r\n+OK\r\n",
	"*3\r\n$9\r\nsubscribe\r\n$7\r\nchannel\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$7\r\nchannel\r\n$1\r\nx\r\n",
	">3\r\n$9\r\nsubscribe\r\n$7\r\nchannel\r\n:1\r\n>3\r\n$9\r\nsubscribe\r\n$7\r\nchannel\r\n:1\r\n", ">3\r\n$11\r\nunsubscribe\r\n$7\r\nchannel\r\n:0\r\n",
	">3\r\n$7\r\nmessage\r\n$7\r\nchannel\r\n*0\r\n", ">1\r\n$7\r\nmessage\r\n", "+QUEUED\r\n", "*3\r\n+a\r\n+b\r\n+c\r\n", "*3\r\n-ERR a\r\n-ERR b\r\n$-1\r\n",
	"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n400 Bad Request", "SSH-2.0-OpenSSH_9.2\r\n", "\x15\x03\x01\x00\x02\x02\x16", "\x00\x00\x00\x00",
	"-NOAUTH Authentication required.\r\n", "-NOPROTO unsupported protocol version\r\n", "-ERR unknown command 'EVALSHA'\r\n", "-LOADING\r\n", "-BUSY x\r\n",
}

func (s suite) hostileServers(t *testing.T) {
	for i, answer := range hostilities {
		for _, m := range []manners{{answer: answer}, {answer: answer, greets: true}, {answer: answer, greets: true, hangUp: true}, {answer: answer, old: true}} {
			t.Run(fmt.Sprintf("%d %.20q greets=%v old=%v hangs up=%v", i, answer, m.greets, m.old, m.hangUp), func(t *testing.T) {
				t.Parallel()
				n := s.open(t, m.serve(t))
				defer n.Close()
				suffer(t, n, short/3)
			})
		}
	}
}

func (s suite) ancientServer(t *testing.T) {
	n := s.open(t, manners{old: true, answer: "+OK\r\n"}.serve(t))
	defer n.Close()
	for what, err := range map[string]error{
		"EvalSHA": one(t, n, node.Call{SHA: sha(echo)}).Err,
		"Eval":    n.Eval(within(t, patience), echo, node.Call{}, echo).Err,
	} {
		if node.Code(err) != node.Generic || !strings.Contains(err.Error(), "unknown command") {
			t.Errorf("%s at a server without scripts: %v; want its own words", what, err)
		}
	}
}

// Fuzz runs a driver against servers with any manners and any answer.
func Fuzz(f *testing.F, open Open) {
	for _, answer := range hostilities {
		for m := range uint8(8) {
			f.Add(m, answer)
		}
	}
	f.Fuzz(func(t *testing.T, how uint8, answer string) {
		m := manners{answer: answer, greets: how&1 != 0, hangUp: how&2 != 0, old: how&4 != 0}
		n := open(t, m.serve(t))
		defer n.Close()
		suffer(t, n, 20*time.Millisecond)
	})
}
