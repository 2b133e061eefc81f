package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// patient is for a busy machine, on which a request may reach a node late.
var patient = holdfast.Config{Window: time.Second}

func TestThePartnerSeesThreeCallsAtATimeAtMost(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	var mu sync.Mutex
	now, peak, calls := 0, 0, 0
	partner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		now++
		calls++
		peak = max(peak, now)
		mu.Unlock()
		<-time.After(20 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
	}))
	defer partner.Close()
	clients := []*holdfast.Client{nodes.Client(t, patient), nodes.Client(t, patient), nodes.Client(t, patient)}
	const n = 18
	errs := make([]error, n)
	began := time.Now()
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { errs[i] = call(t.Context(), clients[i%len(clients)], partner.URL) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil || calls != n {
		t.Errorf("%d calls: %v", calls, err)
	}
	if peak > most {
		t.Errorf("%d calls at a time", peak)
	}
	if took := time.Since(began); took < n/most*period {
		t.Errorf("%d calls took %s, which is too fast", n, took)
	}
}
