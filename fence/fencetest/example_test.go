package fencetest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/fencetest"
)

// forgetful is a store of its own that compares no token.
type forgetful struct {
	mu    sync.Mutex
	value []byte
}

func (f *forgetful) Read(ctx context.Context, t fence.Token) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value, nil
}

func (f *forgetful) Write(ctx context.Context, t fence.Token, value []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.value = value
	return nil
}

// A test of a store calls Run, and a program that meets a new kind of server calls Check.
func ExampleCheck() {
	stores := map[string]*forgetful{}
	var mu sync.Mutex
	err := fencetest.Check(context.Background(), func(_ context.Context, name string) (fence.Register, error) {
		mu.Lock()
		defer mu.Unlock()
		if stores[name] == nil {
			stores[name] = &forgetful{}
		}
		return stores[name], nil
	})
	fmt.Println("the store is good:", err == nil)
	fmt.Println("an old write succeeded:", strings.Contains(fmt.Sprint(err), "AnOldWriterIsRefused"))
	// Output:
	// the store is good: false
	// an old write succeeded: true
}

// Objects stands in for an object store in a test.
func ExampleObjects() {
	ctx := context.Background()
	var store fencetest.Objects
	if err := store.Put(ctx, "state", []byte("one"), ""); err != nil {
		log.Fatal(err)
	}
	body, tag, err := store.Get(ctx, "state")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", body)
	fmt.Println(store.Put(ctx, "state", []byte("two"), tag))
	fmt.Println(errors.Is(store.Put(ctx, "state", []byte("three"), tag), fence.ErrConflict))
	// Output:
	// one
	// <nil>
	// true
}
