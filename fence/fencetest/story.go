package fencetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/fence"
)

// story is a number of calls on one resource, one after the other, and what each must do. The first surprise ends it.
type story struct {
	ctx context.Context
	on  fence.Register
	err error
}

// begin opens a resource.
func (s suite) begin(ctx context.Context, name string) *story {
	r, err := s.register(ctx, name)
	return &story{ctx: ctx, on: r, err: err}
}

// writes demands that a write succeeds.
func (s *story) writes(t fence.Token, value string) {
	if s.err != nil {
		return
	}
	if err := s.on.Write(s.ctx, t, []byte(value)); err != nil {
		s.err = fmt.Errorf("a write with %s: %w; it must succeed", t, err)
	}
}

// reads demands that a read succeeds and returns this value.
func (s *story) reads(t fence.Token, value string) {
	if s.err != nil {
		return
	}
	got, err := s.on.Read(s.ctx, t)
	if err != nil {
		s.err = fmt.Errorf("a read with %s: %w; it must succeed", t, err)
	} else if string(got) != value {
		s.err = fmt.Errorf("a read with %s returned %.60q; want %.60q", t, got, value)
	}
}

// refusesWrite demands that a write is refused because of its token.
func (s *story) refusesWrite(t fence.Token) {
	if s.err == nil {
		s.refused("a write", t, s.on.Write(s.ctx, t, []byte("written by "+t.String())))
	}
}

// refusesRead demands that a read is refused because of its token.
func (s *story) refusesRead(t fence.Token) {
	if s.err == nil {
		_, err := s.on.Read(s.ctx, t)
		s.refused("a read", t, err)
	}
}

func (s *story) refused(what string, t fence.Token, err error) {
	if err == nil {
		s.err = fmt.Errorf("%s with %s succeeded, although it is old", what, t)
	} else if !errors.Is(err, fence.ErrStale) {
		s.err = fmt.Errorf("%s with %s, which is old: %w; want an error that matches ErrStale", what, t, err)
	}
}
