package ui

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

// A reading may take longer than the time for one event, for example while nodes hang. Over HTTP/2, which TLS uses, the
// stream must wait for it.
func TestASilentStreamGoesOn(t *testing.T) {
	const patience = 200 * time.Millisecond
	for _, two := range []bool{false, true} {
		slow := &sample.Sampler{Every: time.Millisecond, Read: func(ctx context.Context) *sample.State {
			select {
			case <-time.After(4 * patience): // the reading of nodes that hang
				return &sample.State{At: 1}
			case <-ctx.Done():
				return nil
			}
		}}
		s := httptest.NewUnstartedServer(handler(Config{Sampler: slow, Local: true}, patience))
		s.EnableHTTP2 = two
		s.StartTLS()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		r, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if (answer.ProtoMajor == 2) != two {
			t.Errorf("the protocol is %s", answer.Proto)
		}
		states := 0
		lines := bufio.NewScanner(answer.Body)
		for states < 2 && lines.Scan() {
			if lines.Text() == "event: state" {
				states++
			}
		}
		if states < 2 {
			t.Errorf("%s: the stream ended after %d readings: %v", answer.Proto, states, lines.Err())
		}
		cancel()
		_ = answer.Body.Close()
		s.CloseClientConnections()
		s.Close()
		slow.Wait()
	}
}

// A client that announces a body and sends nothing does not keep its connection. Nobody needs a token for that.
func TestASlowRequestEnds(t *testing.T) {
	s := httptest.NewServer(handler(Config{Sampler: &sample.Sampler{}, Token: "correct horse battery"}, 200*time.Millisecond))
	defer s.Close()
	for _, head := range []string{"POST /login", "GET /app.js", "GET /events", "GET /"} {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.WriteString(c, head+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection goes on: %v", head, err)
		}
		_ = c.Close()
	}
}
