package interop

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// The protocol of a peer: one line "try NAME", "lock NAME" or "unlock NAME" on stdin, and one line as its answer on
// stdout: "ok", "refused" (only for try), or "error TEXT". The first line of the output is "ready". The end of the
// input ends the process. A peer of a shared lock knows the verb "holds", too. Its answer is "ok", or "lost MS" if the
// lock was lost so many ms ago and the library told its caller. The arguments are the library, the servers as
// host:port,host:port…, and the TTL in ms.

const peerEnv = "HOLDFAST_INTEROP_PEER"

// servePeer makes the test binary a peer, with one of goClients.
func servePeer(words []string) error {
	ttl, err := strconv.Atoi(words[2])
	if err != nil {
		return err
	}
	l, err := goClients[words[0]](strings.Split(words[1], ","), time.Duration(ttl)*time.Millisecond)
	if err != nil {
		return err
	}
	held := map[string]func() error{}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		verb, name, _ := strings.Cut(in.Text(), " ")
		var unlock func() error
		switch verb {
		case "try":
			unlock, err = l.try(name)
		case "lock":
			unlock, err = l.lock(name)
		case "unlock":
			err = held[name]()
		case "holds":
			if at := l.(watcher).lost(name); !at.IsZero() {
				fmt.Println("lost", time.Since(at).Milliseconds())
				continue
			}
			unlock = held[name]
		}
		switch {
		case errors.Is(err, errRefused):
			fmt.Println("refused")
		case err != nil:
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
		default:
			held[name] = unlock
			fmt.Println("ok")
		}
	}
	return nil
}

// library is a client library that a peer process uses.
type library struct {
	name    string
	nodes   int           // servers; 3 for Redlock
	prefix  string        // of the key, before the name
	poll    time.Duration // the longest pause between two tries of a waiter
	command []string      // nil: the test binary
	stalls  bool          // waiters stall one another for whole TTLs, so a crowd counts a tenth
}

// remote is a peer process.
type remote struct {
	t   testing.TB
	lib library
	cmd *exec.Cmd
	in  io.WriteCloser
	out chan string // closed at the end of the process
}

// newRemote starts a peer process. It has ended when the test ends.
func newRemote(t testing.TB, lib library, servers []*redistest.Server, ttl time.Duration) *remote {
	t.Helper()
	p, err := startRemote(t, lib, servers, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startRemote is newRemote for any goroutine.
func startRemote(t testing.TB, lib library, servers []*redistest.Server, ttl time.Duration) (*remote, error) {
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
	}
	args := []string{lib.name, strings.Join(addrs, ","), fmt.Sprint(ttl.Milliseconds())}
	p := &remote{t: t, lib: lib, out: make(chan string, 1)}
	if lib.command == nil {
		p.cmd = exec.Command(os.Args[0])
		p.cmd.Env = append(os.Environ(), peerEnv+"="+strings.Join(args, " "))
	} else {
		p.cmd = exec.Command(lib.command[0], append(lib.command[1:len(lib.command):len(lib.command)], args...)...)
	}
	p.cmd.Stderr = os.Stderr
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p.in = in
	if err := parentdeath.Start(p.cmd); err != nil {
		return nil, fmt.Errorf("%s: %w; make interop-deps installs the libraries", lib.name, err)
	}
	t.Cleanup(p.kill)
	go func() {
		defer close(p.out)
		for in := bufio.NewScanner(out); in.Scan(); {
			p.out <- in.Text()
		}
	}()
	if got := p.answer(); got != "ready" {
		return nil, fmt.Errorf("%s says %q; make interop-deps installs the libraries", lib.name, got)
	}
	return p, nil
}

// send sends a command. answer returns its answer.
func (p *remote) send(verb, name string) { _, _ = fmt.Fprintln(p.in, verb, name) } // after the end, answer says so

func (p *remote) answer() string {
	select {
	case text, ok := <-p.out:
		if !ok {
			return "ended"
		}
		return text
	case <-time.After(4 * within):
		return "no answer"
	}
}

// must sends a command that has to have this answer.
func (p *remote) must(want, verb, name string) {
	p.t.Helper()
	p.send(verb, name)
	if got := p.answer(); got != want {
		p.t.Fatalf("%s: %s %s: %q, want %q", p.lib.name, verb, name, got, want)
	}
}

// kill ends the process as kill -9 does.
func (p *remote) kill() {
	_ = p.cmd.Process.Kill() // an error says that it has ended
	_ = p.cmd.Wait()
}
