//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/fence"
)

// This file contains the resources that the lock protects.
//
// A register contains a list. Each holder appends its own element: it reads the list, works, and writes the list back.
// As in a linked list, the register stores only the last element. A note stores the element before it. An acknowledged
// element that is missing at the end is a lost update. There are two registers: an open one, and a guarded one that
// refuses a token below the highest token it has seen. The holder shows its token with the read, before all other work.
//
// A counter is a number in a file, with the token and the element of the last write: see [counterFile].

// These are the names of the resources in events.
const (
	open_   = "open"
	guarded = "guarded"
	counter = "counter"
)

// errOldToken is the same error for all resources.
var errOldToken = fence.ErrStale

type register struct {
	client *redis.Client
	kind   string
}

func (r register) keys(name string) []string {
	return []string{r.kind + ":last:" + name, r.kind + ":before:" + name, r.kind + ":token:" + name}
}

// ARGV[1] is the token. It is 0 for a lock without tokens and for the open register.
var (
	readRegister = redis.NewScript(`
		if ARGV[1] + 0 < (redis.call('GET', KEYS[3]) or 0) + 0 then return 'old' end
		redis.call('SET', KEYS[3], ARGV[1])
		return '=' .. (redis.call('GET', KEYS[1]) or '')`)
	writeRegister = redis.NewScript(`
		if ARGV[1] + 0 < (redis.call('GET', KEYS[3]) or 0) + 0 then return 'old' end
		redis.call('SET', KEYS[3], ARGV[1])
		redis.call('SET', KEYS[1], ARGV[2])
		redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
		return '='`)
)

func (r register) run(ctx context.Context, s *redis.Script, name string, args ...any) (string, error) {
	v, err := s.Run(ctx, r.client, r.keys(name), args...).Text()
	if err == nil && v == "old" {
		return "", errOldToken
	}
	if err != nil {
		return "", fmt.Errorf("resource: %w", err)
	}
	return v[1:], nil
}

func (r register) read(ctx context.Context, name string, token int64) (last string, err error) {
	return r.run(ctx, readRegister, name, token)
}

func (r register) write(ctx context.Context, name string, token int64, element, before string) error {
	_, err := r.run(ctx, writeRegister, name, token, element, before)
	return err
}

// list returns the final elements of a register.
func (r register) list(ctx context.Context, name string) (map[string]bool, error) {
	keys := r.keys(name)
	before, err := r.client.HGetAll(ctx, keys[1]).Result()
	if err != nil {
		return nil, err
	}
	last, err := r.client.Get(ctx, keys[0]).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	in, err := chain(last, before)
	if err != nil {
		return nil, fmt.Errorf("resource: %s of %s: %w", r.kind, name, err)
	}
	return in, nil
}
