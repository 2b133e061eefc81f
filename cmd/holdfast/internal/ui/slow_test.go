package ui

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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

// slow takes its whole time for each action and each reading of details. It ends earlier if the request ends.
type slow struct{ takes time.Duration }

func (s slow) wait(ctx context.Context) error {
	select {
	case <-time.After(s.takes):
		return errors.New("somebody has the lock now")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slow) Unlock(ctx context.Context, _ string, _ Taken) error { return s.wait(ctx) }

func (s slow) Job(ctx context.Context, _, _, _, _ string) error { return s.wait(ctx) }

// slowDetails are details of a node set that hangs.
type slowDetails struct{ slow }

func (s slowDetails) Lock(ctx context.Context, _ string, _ int) (*sample.LockDetails, error) {
	return nil, s.wait(ctx)
}

func (s slowDetails) Job(ctx context.Context, _ string) (*sample.JobDetails, error) {
	return nil, s.wait(ctx)
}

// Actions and details may take longer than a client may take to send and read. The answer arrives all the same.
func TestWorkThatTakesItsWholeTimeIsAnswered(t *testing.T) {
	const patience = time.Second
	late := slow{2 * patience}
	for _, two := range []bool{false, true} {
		s := httptest.NewUnstartedServer(handler(Config{Sampler: &sample.Sampler{}, Local: true, Token: secret, Actions: late, Details: slowDetails{late}}, patience))
		s.EnableHTTP2 = two
		s.StartTLS()
		var wait sync.WaitGroup
		for path, body := range map[string]string{
			"/job": `{"name":"report","what":"run"}`, "/unlock": `{"name":"orders/1","label":"web-1/1","fence":7}`,
			"/job?name=report": "", "/lock?name=orders/1": "",
		} {
			method := map[bool]string{true: "GET", false: "POST"}[body == ""]
			r := request(t, method, s.URL+path, "Authorization", "Bearer "+secret)
			r.Body = io.NopCloser(strings.NewReader(body))
			if body == "" {
				r.Body = nil
			}
			wait.Go(func() {
				answer, err := s.Client().Do(r)
				if err != nil {
					t.Errorf("HTTP/2 %t, %s %s: no answer: %v", two, method, path, err)
					return
				}
				defer answer.Body.Close()
				said, err := io.ReadAll(answer.Body)
				if err != nil || answer.StatusCode < 400 || string(said) != "somebody has the lock now\n" {
					t.Errorf("HTTP/2 %t, %s %s: status %d, %q, %v", two, method, path, answer.StatusCode, said, err)
				}
			})
		}
		wait.Wait()
		s.Close()
	}
}

// endless are details that take until the test ends.
type endless struct {
	slowDetails
	began chan struct{}
	end   chan struct{}
}

func (e endless) Lock(context.Context, string, int) (*sample.LockDetails, error) {
	e.began <- struct{}{}
	<-e.end
	return &sample.LockDetails{}, nil
}

// While all places for details are taken, a reader is asked to come later.
func TestAReaderWithoutAPlaceIsAnswered(t *testing.T) {
	all := endless{began: make(chan struct{}, mostLooks), end: make(chan struct{})}
	s := httptest.NewServer(handler(Config{Sampler: &sample.Sampler{}, Local: true, Details: all}, 4*time.Second))
	defer s.Close()
	var wait sync.WaitGroup
	for range mostLooks {
		wait.Go(func() {
			if answer, err := s.Client().Get(s.URL + "/lock?name=x"); err != nil || answer.StatusCode != 200 {
				t.Errorf("a reader with a place: %+v, %v", answer, err)
			} else {
				_ = answer.Body.Close()
			}
		})
		<-all.began
	}
	for _, path := range []string{"/lock?name=y", "/names?name=x"} {
		answer, body := ask(t, request(t, "GET", s.URL+path))
		if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" || !strings.Contains(body, "ask again later") {
			t.Errorf("%s: status %d, %q", path, answer.StatusCode, body)
		}
	}
	close(all.end)
	wait.Wait()
}

// The end of an action does not wait for a client that announces more than it sends.
func TestASlowActionEnds(t *testing.T) {
	s := httptest.NewServer(handler(Config{Sampler: &sample.Sampler{}, Token: secret, Actions: slow{}}, 200*time.Millisecond))
	defer s.Close()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	body := `{"name":"report","what":"run"}`
	if _, err := io.WriteString(c, "POST /job HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+secret+"\r\nContent-Length: 1000\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(c)
	if err != nil && !strings.Contains(err.Error(), "reset") || !strings.Contains(string(said), "somebody has the lock now") {
		t.Errorf("the connection goes on, or has no answer: %q, %v", said, err)
	}
}
