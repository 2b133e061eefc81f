package async

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// stuck gives q a function that blocks until the returned function is called. It returns when the function runs.
func stuck(q *Queue) (goOn func()) {
	begun, end := make(chan struct{}), make(chan struct{})
	q.Do(func() { close(begun); <-end })
	<-begun
	return func() { close(end) }
}

func TestThingsAreDoneInOrder(t *testing.T) {
	var q Queue
	var done []int
	goOn := stuck(&q)
	for i := range 100 {
		q.Do(func() { done = append(done, i) })
	}
	goOn()
	if !q.Wait(Forever) {
		t.Fatal("Wait returned before the end")
	}
	if len(done) != 100 || !slices.IsSorted(done) {
		t.Errorf("done: %v", done)
	}
}

func TestNobodyWaitsForWhatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Queue
		goOn := stuck(&q)
		began := time.Now()
		q.Do(func() {})
		if took := time.Since(began); took != 0 {
			t.Errorf("Do took %s", took)
		}
		if q.Wait(0) || q.Wait(time.Second) {
			t.Error("Wait says that nothing is left")
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("Wait took %s", took)
		}
		go func() {
			time.Sleep(time.Second)
			goOn()
		}()
		if !q.Wait(time.Minute) || time.Since(began) != 2*time.Second {
			t.Errorf("Wait returned after %s", time.Since(began))
		}
		if !q.Wait(0) {
			t.Error("something is left")
		}
	})
}

func TestWhatDoesNotFitIsToldWhereItIsMissing(t *testing.T) {
	var done []string
	q := Queue{Missed: func(n int) { done = append(done, fmt.Sprint("missed ", n)) }}
	do := func(what string) { q.Do(func() { done = append(done, what) }) }
	goOn := stuck(&q)
	begun, half := make(chan struct{}), make(chan struct{})
	q.Do(func() { close(begun); <-half })
	for range Room - 1 {
		do("early")
	}
	for range 3 {
		do("too much")
	}
	goOn()
	<-begun
	do("late")
	do("too much")
	close(half)
	q.Wait(Forever)
	want := append(slices.Repeat([]string{"early"}, Room-1), "missed 3", "late", "missed 1")
	if !slices.Equal(done, want) {
		t.Errorf("%d things done, want %d; the last ones %q", len(done), len(want), done[max(0, len(done)-4):])
	}
}

// In a bubble the test fails if a goroutine is left.
func TestAnIdleQueueHasNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Queue
		if !q.Wait(0) {
			t.Error("an unused queue is not idle")
		}
		for range 2 {
			n := 0
			q.Do(func() { n++ })
			synctest.Wait()
			if !q.Wait(0) || n != 1 {
				t.Errorf("done %d times", n)
			}
		}
	})
}
