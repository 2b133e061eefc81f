package fencetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/fence"
)

// story is a series of calls on one resource. Each call has an expected result. The first other result ends the
// story.
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

// writes makes a write that must succeed.
func (s *story) writes(t fence.Token, value string) {
	if s.err != nil {
		return
	}
	if err := s.on.Write(s.ctx, t, []byte(value)); err != nil {
		s.err = fmt.Errorf("a write with %s: %w; it must succeed", t, err)
	}
}

// reads makes a read that must succeed and return this value.
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

// refusesWrite makes a write that the resource must refuse because of its token.
func (s *story) refusesWrite(t fence.Token) {
	if s.err == nil {
		s.refused("a write", t, s.on.Write(s.ctx, t, []byte("written by "+t.String())))
	}
}

// refusesRead makes a read that the resource must refuse because of its token.
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
