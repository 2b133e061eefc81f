package exampleset

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// Server is a real server, for what the modelled node does not know.
type Server struct {
	*redistest.Server
	t *test
}

// Start starts a server.
func Start() *Server {
	t := &test{}
	return &Server{redistest.Start(t), t}
}

// Close ends the server.
func (s *Server) Close() { s.t.end() }

// Eval implements the method of [node.Node], for scripts that answer with a text.
func (s *Server) Eval(_ context.Context, text string, call node.Call, _ ...string) node.Reply {
	args := []any{"EVAL", text, len(call.Keys)}
	for _, list := range [][]string{call.Keys, call.Args} {
		for _, a := range list {
			args = append(args, a)
		}
	}
	v, err := s.Do(args...)
	reply, _ := v.(string)
	return node.Reply{Value: reply, Err: err}
}
