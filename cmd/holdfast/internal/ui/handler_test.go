package ui

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

const evil = `<img src=x onerror="alert(1)">`

// start serves the page with readings that count themselves.
func start(t *testing.T, c Config) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	reads := new(atomic.Int64)
	c.Sampler = &sample.Sampler{Every: 20 * time.Millisecond, Read: func(context.Context) *sample.State {
		return &sample.State{At: reads.Add(1), Names: []sample.Name{{Key: evil, Name: evil, Slot: -1}}}
	}}
	s := httptest.NewServer(Handler(c))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		c.Sampler.Wait()
	})
	return s, reads
}

// ask sends a request without following redirects.
func ask(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // a stream has no end
	defer cancel()
	r = r.WithContext(ctx)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // enough to see that a stream was not refused
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func request(t *testing.T, method, at string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func TestEveryAnswerHasAStrictPolicy(t *testing.T) {
	s, _ := start(t, Config{Local: true})
	for path, kind := range map[string]string{
		"/": "text/html", "/app.js": "text/javascript", "/style.css": "text/css", "/icon.svg": "image/svg+xml", "/lib/preact.js": "text/javascript", "/nothing": "text/plain",
	} {
		answer, _ := ask(t, request(t, "GET", s.URL+path))
		if want := path != "/nothing"; (answer.StatusCode == 200) != want {
			t.Errorf("%s: status %d", path, answer.StatusCode)
		}
		if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, kind) {
			t.Errorf("%s: Content-Type %q, want %s", path, got, kind)
		}
		csp := answer.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy has no %s: %s", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, answer.Header)
		}
	}
}

func TestThePageHasNoInlineScriptOrStyle(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<script(?:[^>]*)>[^<]|<style|\sstyle=|\son[a-z]+=|javascript:|https?://`)
	for name, f := range pageFiles() {
		if strings.HasSuffix(name, ".html") {
			if at := inline.FindString(string(f.body)); at != "" {
				t.Errorf("%s has %q", name, at)
			}
		}
	}
}

// TestTheLibrariesAreThoseOfTheirPackages compares checksums. After an update copy the new ones.
func TestTheLibrariesAreThoseOfTheirPackages(t *testing.T) {
	files := pageFiles()
	for name, want := range map[string]string{ // preact 11.2.0, htm 3.1.1
		"/lib/preact.js": "225d7a773766e6fb2cfcc45274fe41d2059f5782f3f2c4569aa5132a2d3a2902",
		"/lib/htm.js":    "ab33dd3f38059b9be4d5f5350128eefb2356639c4e0bbe9d9e8b3ba75847e9e4",
	} {
		sum := sha256.Sum256(files[name].body)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s has the checksum %s, want %s", name, got, want)
		}
	}
}

func TestOnlyLoopbackHostsAreAnswered(t *testing.T) {
	s, _ := start(t, Config{Local: true})
	for host, want := range map[string]int{
		"localhost:7390": 200, "LOCALHOST": 200, "127.0.0.1:7390": 200, "127.8.9.1": 200, "[::1]:7390": 200, "[::1]": 200, "[::ffff:127.0.0.1]:80": 200,
		"evil.example:7390": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "10.0.0.7:7390": 421, "[2001:db8::1]": 421, "0.0.0.0": 421,
	} {
		for _, path := range []string{"/", "/app.js", "/login"} {
			if answer, body := ask(t, request(t, "GET", s.URL+path, "Host", host)); (answer.StatusCode == 421) != (want == 421) {
				t.Errorf("host %s, %s: status %d %s", host, path, answer.StatusCode, body)
			}
		}
	}
	if answer, _ := ask(t, request(t, "GET", s.URL+"/events", "Host", "evil.example")); answer.StatusCode != 421 {
		t.Errorf("another host gets readings: %d", answer.StatusCode)
	}
}

func TestAnotherSiteGetsNoReadings(t *testing.T) {
	s, reads := start(t, Config{Local: true})
	for _, from := range []string{"cross-site", "same-site"} {
		if answer, _ := ask(t, request(t, "GET", s.URL+"/events", "Sec-Fetch-Site", from)); answer.StatusCode != 403 {
			t.Errorf("%s: status %d", from, answer.StatusCode)
		}
	}
	if n := reads.Load(); n != 0 {
		t.Errorf("the nodes were asked %d times", n)
	}
}

func TestOnlyReadersWithTheTokenGetReadings(t *testing.T) {
	const token = "correct horse battery"
	s, reads := start(t, Config{Token: token})
	if answer, _ := ask(t, request(t, "GET", s.URL+"/")); answer.StatusCode != 303 || answer.Header.Get("Location") != "/login" {
		t.Errorf("without a token / has status %d", answer.StatusCode)
	}
	forged := "99999999999.00"
	for _, header := range [][]string{
		nil, {"Authorization", "Bearer wrong"}, {"Authorization", "Bearer "}, {"Authorization", "Basic " + token},
		{"Cookie", "holdfast-ui=" + forged}, {"Cookie", "holdfast-ui=" + token}, {"Cookie", "holdfast-ui="},
		{"Cookie", "holdfast-ui=" + newSessions(token, false).sign("99999999999")}, // of another run of the server
	} {
		answer, body := ask(t, request(t, "GET", s.URL+"/events", header...))
		if answer.StatusCode != 401 || strings.Contains(body, "data:") {
			t.Errorf("%v: status %d %s", header, answer.StatusCode, body)
		}
	}
	if n := reads.Load(); n != 0 {
		t.Errorf("the nodes were asked %d times", n)
	}
	first(t, request(t, "GET", s.URL+"/events", "Authorization", "Bearer "+token))
	post := func(text string) (*http.Response, string) {
		r := request(t, "POST", s.URL+"/login", "Content-Type", "application/x-www-form-urlencoded")
		r.Body = io.NopCloser(strings.NewReader(url.Values{"token": {text}}.Encode()))
		return ask(t, r)
	}
	for _, wrong := range []string{"", "wrong", token + "x", strings.Repeat("x", 1<<20)} {
		if answer, body := post(wrong); answer.StatusCode != 401 || len(answer.Cookies()) > 0 || !strings.Contains(body, "This is not the token.") {
			t.Errorf("%.20q: status %d", wrong, answer.StatusCode)
		}
	}
	answer, _ := post(token)
	if answer.StatusCode != 303 || len(answer.Cookies()) != 1 {
		t.Fatalf("the token: status %d, %d cookies", answer.StatusCode, len(answer.Cookies()))
	}
	c := answer.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, token) {
		t.Errorf("the cookie is %v", c)
	}
	first(t, request(t, "GET", s.URL+"/events", "Cookie", c.Name+"="+c.Value))
}

func TestAnOldSessionEnds(t *testing.T) {
	s := newSessions("correct horse battery", true)
	for _, c := range []struct {
		until time.Duration
		want  bool
	}{{time.Hour, true}, {-time.Second, false}} {
		r := httptest.NewRequest("GET", "/", nil)
		end := time.Now().Add(c.until).Unix()
		r.AddCookie(&http.Cookie{Name: s.cookieName(), Value: s.sign(jsonOf(end))})
		if got := s.open(r); got != c.want {
			t.Errorf("a session that ends in %s is open: %t", c.until, got)
		}
	}
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// first returns the first reading of a stream.
func first(t *testing.T, r *http.Request) *sample.State {
	t.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	answer, err := http.DefaultClient.Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("status %d, Content-Type %q", answer.StatusCode, kind)
	}
	lines := bufio.NewScanner(answer.Body)
	for event := ""; lines.Scan(); {
		if e, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			event = e
		}
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && event == "state" {
			var s sample.State
			if err := json.Unmarshal([]byte(text), &s); err != nil {
				t.Fatal(err)
			}
			return &s
		}
	}
	t.Fatal("the stream ended without a reading")
	return nil
}

func TestMarkupInNamesPassesAsText(t *testing.T) {
	s, _ := start(t, Config{Local: true})
	if got := first(t, request(t, "GET", s.URL+"/events")).Names[0].Name; got != evil {
		t.Errorf("the name is %q", got)
	}
}

// TestOneQuestionForAllBrowsers opens many streams at once, and then none.
func TestOneQuestionForAllBrowsers(t *testing.T) {
	s, reads := start(t, Config{Local: true})
	began := time.Now()
	done := make(chan *sample.State)
	for range 30 {
		go func() { done <- first(t, request(t, "GET", s.URL+"/events")) }()
	}
	for range 30 {
		<-done
	}
	if most := int64(time.Since(began)/(20*time.Millisecond)) + 2; reads.Load() > most {
		t.Errorf("30 browsers asked the nodes %d times; one browser would have asked at most %d times", reads.Load(), most)
	}
	// The server hears of the end of the streams a little later.
	for end := time.Now().Add(20 * time.Second); ; {
		before := reads.Load()
		<-time.After(200 * time.Millisecond)
		if reads.Load() == before {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the nodes are asked although nobody watches")
		}
	}
}

func TestThePageIsReadOnly(t *testing.T) {
	s, _ := start(t, Config{Local: true})
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		for _, path := range []string{"/", "/events", "/app.js"} {
			if answer, _ := ask(t, request(t, method, s.URL+path)); answer.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: status %d", method, path, answer.StatusCode)
			}
		}
	}
}
