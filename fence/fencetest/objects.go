package fencetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/holdfast-go/holdfast/fence"
)

// Objects is an object store in memory with the conditional writes of S3. As in S3, the tag is a digest of the body.
// The zero value is an empty store. It is safe for concurrent use.
type Objects struct {
	mu     sync.Mutex
	bodies map[string][]byte
}

var _ fence.Objects = (*Objects)(nil)

// Get implements Get of [fence.Objects].
func (o *Objects) Get(ctx context.Context, key string) (body []byte, tag string, err error) {
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	body, ok := o.bodies[key]
	if !ok {
		return nil, "", fmt.Errorf("get %q: %w", key, fence.ErrNoObject)
	}
	return bytes.Clone(body), tagOf(body), nil
}

// Put implements Put of [fence.Objects].
func (o *Objects) Put(ctx context.Context, key string, body []byte, match string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now, ok := o.bodies[key]
	if match == "" && ok || match != "" && (!ok || match != tagOf(now)) {
		return fmt.Errorf("put %q: %w", key, fence.ErrConflict)
	}
	if o.bodies == nil {
		o.bodies = map[string][]byte{}
	}
	o.bodies[key] = bytes.Clone(body)
	return nil
}

func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}
