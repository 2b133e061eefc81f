package exampleset

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// Test runs f as go test runs a test. An example has no test of its own. A failure is a line of the example's output.
func Test(f func(t testing.TB)) {
	t := &test{}
	defer t.end()
	f(t)
}

// test has the methods of a test that packages for tests call. Others panic.
type test struct {
	testing.TB
	cleanup []func()
	stops   []context.CancelFunc
}

func (*test) Helper()            {}
func (*test) Log(...any)         {}
func (t *test) Cleanup(f func()) { t.cleanup = append(t.cleanup, f) }
func (*test) Error(args ...any)  { fmt.Println(args...) }
func (*test) Fatal(args ...any)  { panic(fmt.Sprint(args...)) }
func (*test) Errorf(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
}

func (*test) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

// Context returns a context that ends before the functions of Cleanup run.
func (t *test) Context() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	t.stops = append(t.stops, stop)
	return ctx
}

func (t *test) end() {
	for _, stop := range t.stops {
		stop()
	}
	for _, f := range slices.Backward(t.cleanup) {
		f()
	}
}
