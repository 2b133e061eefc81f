//go:build linux

package fencing

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Open opens the register of a name, in any process. store says which store, and where it is.
type Open func(store, name string) (fence.Register, error)

// Main runs the tests of a package and then atEnd, or the holder process if this is one. A package's TestMain calls it.
func Main(m *testing.M, open Open, atEnd ...func()) {
	if len(os.Args) == 3 && os.Args[1] == holderArg {
		if err := hold(os.Args[2], open, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "holder:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	for _, f := range atEnd {
		f()
	}
	os.Exit(code)
}

const holderArg = "__fencing-holder"

// role contains the settings of a holder.
type role struct {
	Nodes []string // of the lock
	Store string   // for Open
	Name  string   // the name of the lock and of the register
	Naive bool     // one token for all
}

// These are the settings of the locks. The lease of a stopped holder expires after 500 ms.
func config() holdfast.Config {
	return holdfast.Config{
		TTL: time.Second, MaxTTL: time.Second, Window: 125 * time.Millisecond, NodeTimeout: time.Second,
		Cluster: "fencing", Private: true, Logger: slog.New(slog.DiscardHandler),
	}
}

// These are the commands to a holder, and its answers.
const (
	begin = "begin" // get the lock, read, check the lease
	write = "write" // write the number that was read, plus one

	ready   = "ready"   // the lease is valid: what follows is the write
	expired = "expired" // the lease ended before the check, so there is no write
	wrote   = "wrote"
	refused = "refused" // the register says that the token is old
)

// hold carries out the commands, until there are no more.
func hold(settings string, open Open, commands io.Reader, answers io.Writer) error {
	var r role
	if err := json.Unmarshal([]byte(settings), &r); err != nil {
		return err
	}
	c := config()
	nodes, err := rueidisnode.Open(r.Nodes...)
	if err != nil {
		return err
	}
	c.Nodes = nodes
	client, err := holdfast.New(c)
	if err != nil {
		return err
	}
	defer client.Close()
	register, err := open(r.Store, r.Name)
	if err != nil {
		return err
	}
	ctx := context.Background()
	var lease *holdfast.Lease
	var number int
	for lines := bufio.NewScanner(commands); lines.Scan(); {
		answer := ""
		switch lines.Text() {
		case begin:
			if lease, err = client.Mutex(r.Name, holdfast.WaitThroughOutages()).Lock(ctx); err != nil {
				return err
			}
			if number, err = get(ctx, register, r.token(lease)); err != nil {
				return err
			}
			// This is the check that a careful program makes. It is not enough: the process may be stopped after it.
			if answer = ready; lease.Context().Err() != nil || !time.Now().Before(lease.Deadline()) {
				answer = expired
			}
		case write:
			err := put(ctx, register, r.token(lease), number+1)
			if answer = wrote; errors.Is(err, fence.ErrStale) {
				answer = refused
			} else if err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown command %q", lines.Text())
		}
		if answer != ready {
			_ = lease.Unlock(ctx) // a lease that ended has nothing to give back
		}
		if _, err := fmt.Fprintln(answers, answer); err != nil {
			return err
		}
	}
	return nil
}

// token returns the token of a lease. One token for all makes the fence admit everybody.
func (r role) token(lease *holdfast.Lease) fence.Token {
	if r.Naive {
		return fence.Token{Fence: 1}
	}
	return fence.Of(lease)
}

// get reads the number in a register.
func get(ctx context.Context, r fence.Register, t fence.Token) (int, error) {
	value, err := r.Read(ctx, t)
	if err != nil || len(value) == 0 {
		return 0, err
	}
	return strconv.Atoi(string(value))
}

// put writes a number.
func put(ctx context.Context, r fence.Register, t fence.Token, n int) error {
	return r.Write(ctx, t, strconv.AppendInt(nil, int64(n), 10))
}
