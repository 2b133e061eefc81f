package fence

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/node"
)

//go:embed redis.lua
var redisScript string

// Evaler runs a script on the Redis server that has the resource. Each [node.Node] is an Evaler. Make one with a
// driver, such as rueidisnode.Open or goredisnode.New.
//
// An Evaler must not send a call twice by itself.
type Evaler interface {
	Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply
}

// Redis is a value on a Redis or Valkey server that refuses old tokens. It is a [Register].
//
// The key is a hash. Its field value has the value, and its fields writer and reader have the marks. An eviction or
// an expiry removes all fields together, so it cannot remove the marks and leave the value. Give the key no expiry.
//
// Any server is possible; it need not be a node of the locks. The server must not lose data. If it loses its last
// writes, for example when a replica replaces its master, it may lose the last marks. It then accepts tokens that it
// refused before.
type Redis struct {
	Server Evaler // required
	Key    string // UTF-8 without NUL, from 1 to 512 bytes
}

var _ Register = Redis{}

// Read implements [Register.Read].
func (r Redis) Read(ctx context.Context, t Token) ([]byte, error) {
	value, err := r.access(ctx, t, "read", nil)
	return value, wrap("read", r.Key, err)
}

// Write implements [Register.Write].
func (r Redis) Write(ctx context.Context, t Token, value []byte) error {
	_, err := r.access(ctx, t, "write", value)
	return wrap("write", r.Key, err)
}

func (r Redis) access(ctx context.Context, t Token, access string, value []byte) ([]byte, error) {
	if err := checkAccess(t, access == "write"); err != nil {
		return nil, err
	}
	if err := checkName(r.Key); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, errNoContext
	}
	if r.Server == nil {
		return nil, errors.New("no server: the field Server is nil; make a node with a driver, such as rueidisnode.Open")
	}
	reply := r.Server.Eval(ctx, redisScript, node.Call{
		Keys: []string{r.Key},
		Args: []string{t.Mode.String(), fmt.Sprintf("%019d", t.Fence), access, string(value)},
	})
	if reply.Err != nil {
		return nil, reply.Err
	}
	if text, ok := strings.CutPrefix(reply.Value, "stale"); ok && len(text) == 2*19 {
		writer, werr := strconv.ParseInt(text[:19], 10, 64)
		reader, rerr := strconv.ParseInt(text[19:], 10, 64)
		if err := errors.Join(werr, rerr); err != nil {
			return nil, fmt.Errorf("the marks on the server are no tokens: %w", err)
		}
		if _, err := (Marks{Writer: writer, Reader: reader}).Admit(r.Key, t); err != nil {
			return nil, err
		}
	}
	if text, ok := strings.CutPrefix(reply.Value, "value"); ok && access == "read" {
		return []byte(text), nil
	}
	if access == "read" && reply.Value == "none" || access == "write" && reply.Value == "written" {
		return nil, nil
	}
	return nil, fmt.Errorf("the server answered %.40q, which the script never does", reply.Value)
}
