package exporter

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A page of another site may give its own host name a loopback address, and then read what the machine serves.
func TestAnEndpointOnLoopbackAnswersOnlyRequestsThatNameIt(t *testing.T) {
	for _, local := range []bool{true, false} {
		h, err := Handler(Config{Version: "1.0.0", Ready: func(context.Context) error { return nil }, Local: local})
		if err != nil {
			t.Fatal(err)
		}
		for host, loopback := range map[string]bool{
			"127.0.0.1:9390": true, "localhost:9390": true, "[::1]:9390": true, "evil.example:9390": false, "10.0.0.7": false, "": false,
		} {
			for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
				r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
				r.Host = host
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				want := http.StatusOK
				if local && !loopback {
					want = http.StatusMisdirectedRequest
				}
				if w.Code != want || want != http.StatusOK && strings.Contains(w.Body.String(), "holdfast_build_info") {
					t.Errorf("local %t, host %q, %s: status %d, want %d", local, host, path, w.Code, want)
				}
			}
		}
	}
}
