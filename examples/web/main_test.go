package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// patient is for a busy machine, on which a request may reach a node late.
var patient = holdfast.Config{Window: time.Second}

func TestOneOrderIsPaidByOneRequestAtATime(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	begun, end := make(chan bool), make(chan bool)
	var fences [2]atomic.Int64
	slow := func(_ context.Context, _ string, fence int64) error {
		begun <- true
		<-end
		fences[0].Store(fence)
		return nil
	}
	fast := func(_ context.Context, _ string, fence int64) error { fences[1].Store(fence); return nil }
	first := httptest.NewServer(handler(nodes.Client(t, patient), slow))
	defer first.Close()
	second := httptest.NewServer(handler(nodes.Client(t, patient), fast))
	defer second.Close()
	post := func(url string) int {
		r, err := http.Post(url, "", nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer r.Body.Close()
		return r.StatusCode
	}
	codes := make(chan int)
	go func() { codes <- post(first.URL + "/orders/7/pay") }()
	<-begun
	if code := post(second.URL + "/orders/8/pay"); code != http.StatusOK {
		t.Errorf("another order: %d", code)
	}
	if code := post(second.URL + "/orders/7/pay"); code != http.StatusConflict {
		t.Errorf("the same order at the same time: %d", code)
	}
	close(end)
	if code := <-codes; code != http.StatusOK {
		t.Errorf("the first request: %d", code)
	}
	if code := post(second.URL + "/orders/7/pay"); code != http.StatusOK || fences[1].Load() <= fences[0].Load() {
		t.Errorf("the next request: %d, tokens %d and %d", code, fences[0].Load(), fences[1].Load())
	}
	if code := post(second.URL + "/orders/}/pay"); code != http.StatusNotFound {
		t.Errorf("a name that cannot be locked: %d", code)
	}
	nodes.Stop(0)
	nodes.Stop(1)
	if code := post(second.URL + "/orders/9/pay"); code != http.StatusServiceUnavailable {
		t.Errorf("without a majority: %d", code)
	}
}
