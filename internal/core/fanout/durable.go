package fanout

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// lessDurable returns a reason if a server is less durable than its clients state. If appendfsync is the reason,
// lessDurable also returns the value of that setting. It reads the settings with CONFIG GET, because INFO does not
// contain them and a script may not read them. It returns no reason for a server without an AOF: admission finds that
// such a server forgets its data.
func (v *voter) lessDurable(ctx context.Context) (why nodescript.Cause, value string, err error) {
	n, can := v.node.(node.Configured)
	if !can || !v.fan.config.Set.Durable {
		return nodescript.NoCause, "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, v.fan.patience())
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
		v.unchecked(err)
	case err != nil || only != "yes":
		return nodescript.NoCause, "", err
	case sync != "always":
		return nodescript.SyncNotAlways, sync, nil
	case idle == "yes":
		return nodescript.NoSyncRewrite, idle, nil
	}
	return nodescript.NoCause, "", nil
}

// unchecked logs that a server does not let clients read its settings. It logs this only once.
func (v *voter) unchecked(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.trusted {
		v.trusted = true
		v.fan.config.Logger.Warn("node does not tell its settings (CONFIG GET): that it is durable is not checked",
			"node", v.node.Addr(), "error", node.Reason(err))
	}
}
