package admin

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// This file contains the requests of a lister.

// ask asks all nodes about a few items at the same time. errs has the error of each node that did not answer.
func (l *lister) ask(ctx context.Context, some []nodescript.Listed) (items []*NameStatus, errs []error) {
	n := len(l.alive)
	views, corrupt := make([][]nodescript.Glance, n), make([][]error, n)
	errs = slices.Clone(l.errs)
	var answering []int
	for i, err := range errs {
		if err == nil {
			answering = append(answering, i)
		}
	}
	l.pacer.wait(ctx, answering...) // once for all of them, so that their answers are about one moment
	var wait sync.WaitGroup
	for _, i := range answering {
		wait.Go(func() { views[i], corrupt[i], _, errs[i] = l.look(ctx, i, some) })
	}
	wait.Wait()
	items = make([]*NameStatus, len(some))
	for k, one := range some {
		s := &NameStatus{Status: holdfast.Status{Name: strings.TrimPrefix(one.Name, l.client.Prefix)}, Slot: one.Slot}
		seen, failed := make([]*nodescript.Glance, n), slices.Clone(errs)
		for i := range n {
			if errs[i] != nil {
				continue
			}
			if failed[i] = corrupt[i][k]; failed[i] == nil {
				seen[i] = &views[i][k]
			}
		}
		s.merge(seen, failed, l.set.Said, one.Record())
		items[k] = s
	}
	return items, errs
}

// look asks node i about some items, after the caller has waited for the pacer.
func (l *lister) look(ctx context.Context, i int, some []nodescript.Listed) (views []nodescript.Glance, corrupt []error, memory string, err error) {
	err = l.send(ctx, i, func() (err error) {
		views, corrupt, memory, err = l.set.Fan.Look(ctx, i, some)
		return err
	})
	return views, corrupt, memory, err
}

// memoryOf returns the id of node i's memory.
func (l *lister) memoryOf(ctx context.Context, i int) (string, error) {
	l.pacer.wait(ctx, i)
	_, _, memory, err := l.look(ctx, i, nil)
	return memory, err
}

// try waits for the pacer, and sends a request to node i.
func (l *lister) try(ctx context.Context, i int, request func() error) error {
	l.pacer.wait(ctx, i)
	return l.send(ctx, i, request)
}

// send sends a request to node i. After an error it waits for the pacer, and sends the request again.
func (l *lister) send(ctx context.Context, i int, request func() error) (err error) {
	for k := range mostTries {
		if k > 0 {
			l.pacer.wait(ctx, i)
		}
		if ctx.Err() != nil {
			return ending.Cause(ctx)
		}
		if err = request(); err == nil {
			return nil
		}
	}
	return err
}
