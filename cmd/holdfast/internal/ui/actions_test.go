package ui

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

// acted notes the actions.
type acted struct{ said []string }

func (a *acted) Unlock(_ context.Context, from string, h Taken) error {
	if a.said = append(a.said, fmt.Sprintf("unlock %s %s %d from %s", h.Name, h.Label, h.Fence, from)); h.Name == "gone" {
		return errors.New("nobody has gone")
	}
	return nil
}

func (a *acted) Job(_ context.Context, from, what, name, note string) error {
	a.said = append(a.said, what+" "+name+" "+note+" from "+from)
	return nil
}

const secret = "correct horse battery"

// session logs in, and returns the cookie and the token for actions.
func session(t *testing.T, s *httptest.Server) (cookie, csrf string) {
	t.Helper()
	r := request(t, "POST", s.URL+"/login", "Content-Type", "application/x-www-form-urlencoded")
	r.Body = io.NopCloser(strings.NewReader("token=" + strings.ReplaceAll(secret, " ", "+")))
	answer, _ := ask(t, r)
	if len(answer.Cookies()) != 1 {
		t.Fatalf("no session: %d", answer.StatusCode)
	}
	cookie = answer.Cookies()[0].Name + "=" + answer.Cookies()[0].Value
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream, err := http.DefaultClient.Do(request(t, "GET", s.URL+"/events", "Cookie", cookie).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var h hello
			if err := json.Unmarshal([]byte(text), &h); err != nil {
				t.Fatal(err)
			}
			return cookie, h.CSRF
		}
	}
	t.Fatal("the stream has no hello")
	return "", ""
}

func TestActionsNeedTheSessionTheOriginAndTheToken(t *testing.T) {
	done := new(acted)
	s, _ := start(t, Config{Local: true, Token: secret, Actions: done})
	cookie, csrf := session(t, s)
	if csrf == "" || strings.Contains(csrf, secret) {
		t.Fatalf("the token for actions is %q", csrf)
	}
	post := func(path, body string, header ...string) int {
		t.Helper()
		r := request(t, "POST", s.URL+path, header...)
		r.Body = io.NopCloser(strings.NewReader(body))
		answer, _ := ask(t, r)
		return answer.StatusCode
	}
	const unlock, job = `{"name":"orders/1","label":"web-1/1","fence":7}`, `{"name":"report","what":"pause","note":"deploy"}`
	right := []string{"Cookie", cookie, "Holdfast-CSRF", csrf, "Origin", s.URL, "Sec-Fetch-Site", "same-origin"}
	with := func(name, value string) []string { return append(append([]string{}, right...), name, value) }
	for what, c := range map[string]struct {
		header []string
		want   int
	}{
		"without a session":        {[]string{"Holdfast-CSRF", csrf, "Origin", s.URL}, 401},
		"without the CSRF token":   {with("Holdfast-CSRF", ""), 403},
		"with a wrong CSRF token":  {with("Holdfast-CSRF", csrf[1:]+"0"), 403},
		"from another origin":      {with("Origin", "http://evil.example"), 403},
		"from another port":        {with("Origin", "http://127.0.0.1:1"), 403},
		"from a null origin":       {with("Origin", "null"), 403},
		"from another site":        {with("Sec-Fetch-Site", "cross-site"), 403},
		"from a sister site":       {with("Sec-Fetch-Site", "same-site"), 403},
		"without an origin":        {[]string{"Cookie", cookie, "Holdfast-CSRF", csrf}, 403},
		"with a wrong bearer":      {[]string{"Authorization", "Bearer wrong"}, 401},
		"to another host":          {with("Host", "evil.example"), 421},
		"of a rebound host's page": {append(with("Host", "evil.example"), "Origin", "http://evil.example"), 421},
	} {
		for path, body := range map[string]string{"/unlock": unlock, "/job": job} {
			if got := post(path, body, c.header...); got != c.want {
				t.Errorf("%s %s: status %d, want %d", path, what, got, c.want)
			}
		}
	}
	if len(done.said) > 0 {
		t.Fatalf("refused requests acted: %v", done.said)
	}
	for _, bad := range []string{"", "{", `{"label":"x"}`, `{"name":"x"}`, `{"name":"x","label":"y"}`, `{"name":"x","label":"y","fence":7,"slots":-1}`, `{"name":"x","label":"y","fence":7,"slots":9999999}`} {
		if got := post("/unlock", bad, right...); got != 400 {
			t.Errorf("the body %q: status %d", bad, got)
		}
	}
	for _, bad := range []string{`{"name":"x","what":"remove"}`, `{"name":"x","what":"pause","note":"` + strings.Repeat("n", 121) + `"}`} {
		if got := post("/job", bad, right...); got != 400 {
			t.Errorf("the body %s: status %d", bad, got)
		}
	}
	if post("/unlock", unlock, right...) != 204 || post("/job", job, right...) != 204 || post("/job", job, "Authorization", "Bearer "+secret) != 204 {
		t.Error("a right request is refused")
	}
	if post("/unlock", `{"name":"gone","label":"x","fence":8}`, right...) != 409 {
		t.Error("a failed action has no status of its own")
	}
	if got := strings.Join(done.said, "; "); got != "unlock orders/1 web-1/1 7 from 127.0.0.1; pause report deploy from 127.0.0.1; pause report deploy from 127.0.0.1; unlock gone x 8 from 127.0.0.1" {
		t.Errorf("actions: %s", got)
	}
}

func TestWithoutTheFlagThereAreNoActions(t *testing.T) {
	for what, c := range map[string]Config{"without the flag": {Local: true, Token: secret}, "without a token": {Local: true, Actions: new(acted)}} {
		s, _ := start(t, c)
		for _, path := range []string{"/unlock", "/job"} {
			answer, _ := ask(t, request(t, "POST", s.URL+path, "Authorization", "Bearer "+secret, "Origin", s.URL))
			if answer.StatusCode != http.StatusMethodNotAllowed && answer.StatusCode != http.StatusNotFound {
				t.Errorf("%s, %s: status %d", what, path, answer.StatusCode)
			}
		}
	}
}

// asked answers with what it was asked for.
type asked struct{}

func (asked) Lock(_ context.Context, name string, slots int) (*sample.LockDetails, error) {
	return &sample.LockDetails{Name: name, Readers: slots}, nil
}

func (asked) Job(_ context.Context, name string) (*sample.JobDetails, error) {
	switch name {
	case "none":
		return nil, nil
	case "bad":
		return nil, errors.New("too few nodes")
	}
	return &sample.JobDetails{Job: sample.Job{Name: name}}, nil
}

func TestDetailsAreForTheSession(t *testing.T) {
	s, _ := start(t, Config{Local: true, Token: secret, Details: asked{}})
	for path, want := range map[string]int{
		"/lock?name=a%2Fb&slots=4": 200, "/lock?name=x": 200, "/lock": 400, "/lock?name=x&slots=99999": 400, "/lock?name=x&slots=no": 400,
		"/job?name=report": 200, "/job?name=none": 404, "/job?name=bad": 502, "/job": 400, "/jobs?part=x": 200, "/names?kind=lock&part=x": 200, "/names?kind=semaphore": 200, "/names?kind=node": 400, "/names?name=x": 200, "/names": 400, "/names?kind=lock&part=" + strings.Repeat("x", 1001): 400, "/history": 200,
	} {
		answer, body := ask(t, request(t, "GET", s.URL+path, "Authorization", "Bearer "+secret))
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d: %s", path, answer.StatusCode, want, body)
		}
		if path == "/lock?name=a%2Fb&slots=4" && !strings.Contains(body, `"name":"a/b"`) {
			t.Errorf("%s: %s", path, body)
		}
		if answer, _ := ask(t, request(t, "GET", s.URL+path)); answer.StatusCode != 401 {
			t.Errorf("%s without a session: status %d", path, answer.StatusCode)
		}
		if answer, _ := ask(t, request(t, "GET", s.URL+path, "Authorization", "Bearer "+secret, "Sec-Fetch-Site", "cross-site")); answer.StatusCode != 403 {
			t.Errorf("%s from another site: status %d", path, answer.StatusCode)
		}
	}
}
