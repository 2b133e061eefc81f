package driver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// witness is a server of a cluster that is asked for the topology, at one address.
type witness struct {
	addr string

	// Only the running question uses these fields.
	line  *line  // the kept connection, nil if there is none
	epoch uint64 // the config-epoch under which the server told data
	data  string // the replication id of the server over this connection; "": not told

	// The mutex of the cluster guards these fields.
	busy    bool   // a question runs
	gone    bool   // it is asked no more
	answers bool   // the last question that ended had an answer
	asked   *round // the last round in which it was asked
}

// mostAnswer is the time limit of one question, with a dial. A round does not wait for it.
const mostAnswer = 3 * time.Second

// errNoCluster is the error of a server that runs without cluster-enabled.
var errNoCluster error = &listError{node.ErrNoCluster, "it is no Redis Cluster; use redis://… or rediss://… for a server without cluster-enabled"}

// listError is an error that says what is wrong with a list of servers, in the words of text.
type listError struct {
	fact error
	text string
}

func (e *listError) Error() string { return e.text }
func (e *listError) Unwrap() error { return e.fact }

// question asks the server for the topology. A kept connection may be broken, so question tries another one.
func (w *witness) question(ctx context.Context, c *ClusterConfig) (*view, error) {
	ctx, cancel := context.WithTimeout(ctx, mostAnswer)
	defer cancel()
	if w.line != nil {
		if text, err := w.line.text(ctx, "CLUSTER", "NODES"); err == nil {
			return w.read(ctx, text)
		}
		w.hangUp()
	}
	conn, err := c.Dial(ctx, w.addr)
	if err != nil {
		return nil, &dialError{w.addr, err}
	}
	w.line = &line{Conn: Bound(conn)}
	w.line.in = bufio.NewReader(w.line.Conn)
	text := ""
	auth, err := login(c.Login(ctx))
	if auth != nil {
		_, err = w.line.text(ctx, auth...)
	}
	if err == nil {
		text, err = w.line.text(ctx, "CLUSTER", "NODES")
	}
	if err != nil {
		w.hangUp()
		return nil, fmt.Errorf("the server %s: %w", w.addr, clusterError(err))
	}
	return w.read(ctx, text)
}

// dialError is the error of a server that cannot be reached.
type dialError struct {
	addr string
	err  error
}

func (d *dialError) Error() string { return fmt.Sprintf("the server %s: connect: %v", d.addr, d.err) }
func (d *dialError) Unwrap() error { return d.err }

// read reads an answer to CLUSTER NODES. It asks a master for its replication id when its config-epoch has changed: a
// master that was a replica in between has a higher epoch.
func (w *witness) read(ctx context.Context, text string) (*view, error) {
	v, err := parseView(text, w.addr)
	if err != nil {
		return nil, fmt.Errorf("the server %s: %w", w.addr, err)
	}
	switch {
	case v.replica():
		w.data = ""
		return &v, nil
	case w.data == "" || w.epoch != v.epoch:
		w.epoch, w.data = v.epoch, ""
		if text, err := w.line.text(ctx, "INFO", "replication"); err == nil {
			w.data = InfoField(text, "master_replid")
		} else if node.Code(err) == "" {
			w.hangUp() // the connection is broken, and the next question makes another one
		}
	}
	v.data = w.data
	return &v, nil
}

func (w *witness) hangUp() {
	if w.line != nil {
		_ = w.line.Close() // an error only means that it was closed before
	}
	w.line, w.data = nil, ""
}

// login returns the command that logs in, nil without a password.
func login(user, password string, err error) ([]string, error) {
	switch {
	case err != nil || password == "":
		return nil, err
	case user == "":
		return []string{"AUTH", password}, nil
	}
	return []string{"AUTH", user, password}, nil
}

// text sends a command and reads its answer, which is a text. The end of ctx ends the call and closes the connection.
// An error of the server is a *[node.Error].
func (l *line) text(ctx context.Context, command ...string) (string, error) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	_, err := l.Write(Command(command...))
	kind, text := byte(0), ""
	if err == nil {
		kind, text, _, err = readElement(l.in)
	}
	switch {
	case !stop():
		return "", ContextError(ctx)
	case err != nil:
		return "", err
	case kind == '-':
		return "", node.ServerError(text)
	case kind != '$' && kind != '+':
		return "", fmt.Errorf("the answer to %s is no text", strings.Join(command[:1], " "))
	}
	return text, nil
}

// clusterError returns the error of a server with advice.
func clusterError(err error) error {
	var e *node.Error
	if !errors.As(err, &e) {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case strings.Contains(text, "cluster support disabled"):
		return errNoCluster
	case e.Code == node.NoAuth:
		return fmt.Errorf("%w; put the password into the URL: redis+cluster://:PASSWORD@host", err)
	case e.Code == node.WrongPass, strings.Contains(text, "invalid password"):
		return fmt.Errorf("%w; the user and password are for all servers of the cluster", err)
	case e.Code == node.NoPerm:
		return fmt.Errorf("%w; its user needs +cluster|nodes", err)
	case strings.Contains(text, "unknown command"):
		return fmt.Errorf("it has no CLUSTER NODES, which a cluster needs: %w", err)
	}
	return err
}
