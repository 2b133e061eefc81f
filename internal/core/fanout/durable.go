package fanout

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// lax returns why a server is less durable than its clients declare, and the value of appendfsync if that is the
// reason. INFO does not say how the server writes its AOF, and a script may not ask. lax ignores a server without an
// AOF, because admission finds that it is forgetful.
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

// unchecked logs once that a server does not tell its settings.
func (s *seat) unchecked(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.trusted {
		s.trusted = true
		s.fan.config.Logger.Warn("node does not tell its settings (CONFIG GET): that it is durable is not checked",
			"node", s.node.Addr(), "error", node.Reason(err))
	}
}
