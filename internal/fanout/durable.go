package fanout

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// lax returns why a server is not as durable as its clients declare it, and its appendfsync if that is why: INFO does not
// tell how it writes its AOF, and scripts may not ask. A server that keeps none is forgetful, which admission sees.
func (s *seat) lax(ctx context.Context) (why nodescript.Cause, value string, err error) {
	n, can := s.node.(node.Configured)
	if !can || !s.fan.config.Set.Durable {
		return nodescript.NoCause, "", nil
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
	case err != nil || only != "yes":
		return nodescript.NoCause, "", err
	case sync != "always":
		return nodescript.SyncNotAlways, sync, nil
	case idle == "yes":
		return nodescript.NoSyncRewrite, idle, nil
	}
	return nodescript.NoCause, "", nil
}

// unchecked says once that a server does not tell its settings.
func (s *seat) unchecked(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.trusted {
		s.trusted = true
		s.fan.config.Logger.Warn("node does not tell its settings (CONFIG GET): that it is durable is not checked",
			"node", s.node.Addr(), "error", node.Reason(err))
	}
}
