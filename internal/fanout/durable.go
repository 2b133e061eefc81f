package fanout

import (
	"context"

	"github.com/holdfast-go/holdfast/node"
)

// lax says why a server is not as durable as its clients declare it, or "": INFO does not tell how it
// writes its AOF, and scripts may not ask. A server that keeps none is forgetful, which admission sees.
func (s *seat) lax(ctx context.Context) (why string, err error) {
	n, can := s.node.(node.Configured)
	if !can || !s.fan.config.Set.Durable {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.fan.config.Timeout)
	defer cancel()
	setting := func(name string) (value string) {
		if err == nil {
			r := n.Setting(ctx, name)
			value, err = r.Value, r.Err
		}
		return value
	}
	switch only, sync, idle := setting("appendonly"), setting("appendfsync"), setting("no-appendfsync-on-rewrite"); {
	case node.Code(err) != "":
		s.unchecked(err)
		return "", nil
	case err != nil || only != "yes":
		return "", err
	case sync != "always":
		return "appendfsync is " + sync + ", which may lose the last second, and the node set is declared durable; set it to always", nil
	case idle == "yes":
		return "no-appendfsync-on-rewrite is yes, which may lose what is written during a rewrite, and the node set is declared durable; set it to no", nil
	}
	return "", nil
}

// unchecked says once that a server does not tell its settings.
func (s *seat) unchecked(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.trusted {
		s.trusted = true
		s.fan.config.Logger.Warn("node does not tell its settings (CONFIG GET): that it is durable is not checked",
			"node", s.node.Addr(), "reason", node.Reason(err))
	}
}
