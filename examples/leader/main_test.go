package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// patient is for a busy machine, on which a request may reach a node late.
var patient = holdfast.Config{Window: time.Second}

func TestAnotherInstanceLeadsWhenTheLeaderEnds(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	terms := make(chan int64)
	start := func() (address string, end func()) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan bool)
		go func() {
			defer close(done)
			_ = serve(ctx, nodes.Client(t, patient), listener, func(ctx context.Context, fence int64) {
				terms <- fence
				<-ctx.Done()
			})
		}()
		return listener.Addr().String(), func() { cancel(); <-done }
	}
	leads := func(asked, want string) {
		t.Helper()
		said := ""
		for deadline := time.Now().Add(20 * time.Second); said != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s says that %q leads, want %q", asked, said, want)
			}
			r, err := http.Get("http://" + asked + "/leader")
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(r.Body)
			r.Body.Close()
			said = strings.TrimSpace(string(body))
		}
	}
	first, endFirst := start()
	term := <-terms
	second, endSecond := start()
	defer endSecond()
	leads(first, first)
	leads(second, first)
	endFirst()
	if next := <-terms; next <= term {
		t.Errorf("term %d follows term %d", next, term)
	}
	leads(second, second)
}
