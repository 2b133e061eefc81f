package fence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
)

// ProbeObjects checks whether an object store obeys its conditions. The error names the first condition that the
// store ignores. A program can call ProbeObjects when it starts. It makes about twenty calls.
//
// ProbeObjects writes the object key and does not delete it. Nothing else may use that key, and two probes must not
// use it at the same time.
func ProbeObjects(ctx context.Context, store Objects, key string) error {
	if err := checkName(key); err != nil {
		return wrap("probe", key, err)
	}
	if ctx == nil {
		return wrap("probe", key, errNoContext)
	}
	return wrap("probe", key, probe{store, key}.run(ctx))
}

type probe struct {
	store Objects
	key   string
}

func (p probe) run(ctx context.Context) error {
	_, _, err := p.store.Get(ctx, p.key)
	if err != nil {
		if !errors.Is(err, ErrNoObject) {
			return fmt.Errorf("get: %w", err)
		}
		if err := p.store.Put(ctx, p.key, nonce(), ""); err != nil {
			return fmt.Errorf("put an object that does not exist: %w", err)
		}
	}
	before, first, err := p.get(ctx)
	if err != nil {
		return err
	}
	if err := p.refused(ctx, before, "If-None-Match: *, although the object exists", ""); err != nil {
		return err
	}
	second := nonce()
	if err := p.store.Put(ctx, p.key, second, first); err != nil {
		return fmt.Errorf("put with the tag of the object: %w", err)
	}
	after, tag, err := p.get(ctx)
	if err != nil {
		return err
	}
	if !bytes.Equal(after, second) {
		return errors.New("a read after a write returned another body")
	}
	if tag == first {
		return fmt.Errorf("two bodies have the same tag %s", tag)
	}
	if err := p.refused(ctx, after, "If-Match with a tag of the past", first); err != nil {
		return err
	}
	return p.race(ctx, tag)
}

// race makes many writes with the same condition at once. Exactly one of them must succeed.
func (p probe) race(ctx context.Context, tag string) error {
	const writers = 8
	bodies, errs := make([][]byte, writers), make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		bodies[i] = nonce()
		wg.Go(func() { errs[i] = p.store.Put(ctx, p.key, bodies[i], tag) })
	}
	wg.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			return errors.New("of several writes at once with one If-Match more than one succeeded")
		case err == nil:
			won = i
		case !errors.Is(err, ErrConflict):
			return fmt.Errorf("one of several writes at once: %w", err)
		}
	}
	if won < 0 {
		return errors.New("of several writes at once with one true If-Match none succeeded")
	}
	body, _, err := p.get(ctx)
	if err == nil && !bytes.Equal(body, bodies[won]) {
		err = errors.New("a write that was refused has changed the object")
	}
	return err
}

// refused makes a write whose condition is false, and returns an error if the store accepts it.
func (p probe) refused(ctx context.Context, before []byte, condition, match string) error {
	err := p.store.Put(ctx, p.key, nonce(), match)
	if err == nil {
		return fmt.Errorf("the store ignores a condition: it wrote with %s", condition)
	}
	if !errors.Is(err, ErrConflict) {
		return fmt.Errorf("put with %s: %w; want an error that matches ErrConflict", condition, err)
	}
	after, _, err := p.get(ctx)
	if err == nil && !bytes.Equal(before, after) {
		err = fmt.Errorf("the store refused a write with %s, and wrote", condition)
	}
	return err
}

func (p probe) get(ctx context.Context) (body []byte, tag string, err error) {
	body, tag, err = p.store.Get(ctx, p.key)
	if err == nil && tag == "" {
		err = errors.New("the object has no tag")
	}
	if err != nil {
		return nil, "", fmt.Errorf("get an object that was put: %w", err)
	}
	return body, tag, nil
}

// nonce returns a body that is different from all other bodies.
func nonce() []byte { return fmt.Appendf(nil, "probe %016x%016x\n", rand.Uint64(), rand.Uint64()) }
