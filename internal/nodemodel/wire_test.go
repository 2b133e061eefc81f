package nodemodel

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// wire speaks RESP2 on one connection. A client library would be slower, and might repeat, reorder or reformat
// commands. Here every byte counts.
type wire struct {
	t testing.TB
	c net.Conn
	r *bufio.Reader
	b []byte
}

func dial(t testing.TB, s *redistest.Server) *wire {
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &wire{t: t, c: c, r: bufio.NewReaderSize(c, 1<<16)}
}

// send queues a command. flush sends the queued commands.
func (w *wire) send(args ...string) {
	w.b = fmt.Appendf(w.b, "*%d\r\n", len(args))
	for _, a := range args {
		w.b = fmt.Appendf(w.b, "$%d\r\n%s\r\n", len(a), a)
	}
}

func (w *wire) flush() {
	if _, err := w.c.Write(w.b); err != nil {
		w.t.Fatal(err)
	}
	w.b = w.b[:0]
}

// do runs one command.
func (w *wire) do(args ...string) any {
	w.send(args...)
	w.flush()
	return w.reply()
}

// must runs one command that has to succeed.
func (w *wire) must(args ...string) any {
	w.t.Helper()
	v := w.do(args...)
	if err, bad := v.(error); bad {
		w.t.Fatalf("%.60q: %v", args, err)
	}
	return v
}

// reply reads one reply: string, int64, nil, []any or *node.Error.
func (w *wire) reply() any {
	line, err := w.r.ReadString('\n')
	if err != nil || len(line) < 3 {
		w.t.Fatalf("connection to redis-server: %v", err)
	}
	kind, rest := line[0], line[1:len(line)-2]
	switch kind {
	case '+':
		return rest
	case '-':
		return node.ServerError(rest)
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		w.t.Fatalf("not RESP: %q", line)
	}
	switch {
	case kind == ':':
		return n
	case n < 0:
		return nil
	case kind == '$':
		b := make([]byte, n+2)
		if _, err := io.ReadFull(w.r, b); err != nil {
			w.t.Fatal(err)
		}
		return string(b[:n])
	}
	list := make([]any, n)
	for i := range list {
		list[i] = w.reply()
	}
	return list
}

// info returns the fields of INFO.
func (w *wire) info() map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(w.must("INFO", "everything").(string)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[k] = v
		}
	}
	return fields
}

// version returns the server's own version. Valkey also names the version of the Redis whose commands it has.
func version(info map[string]string) string {
	if v := info["valkey_version"]; v != "" {
		return "Valkey " + v
	}
	return "Redis " + info["redis_version"]
}
