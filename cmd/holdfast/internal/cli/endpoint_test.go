package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

var servedAt = regexp.MustCompile(`holdfast: metrics at (http://\S+)/metrics`)

func getCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, false, len(args) == 4, "[!] get ID PATH CODE REGEXP")
	text, err := regexp.Compile("(?m)" + args[3])
	ts.Check(err)
	base, last, ok := "", "", false
	defer func() {
		if !ok {
			ts.Logf("%s%s: %s", base, args[1], last)
		}
	}()
	eventually(ts, fmt.Sprintf("%v", args), func() bool {
		if at := servedAt.FindStringSubmatch(ts.ReadFile(args[0] + ".err")); at != nil {
			base = at[1]
		}
		if base == "" {
			return false
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+args[1], http.NoBody)
		ts.Check(err)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		last = fmt.Sprintf("%d: %s", answer.StatusCode, body)
		ok = err == nil && fmt.Sprint(answer.StatusCode) == args[2] && text.Match(body) != neg
		return ok
	})
}

func TestAnAddressOfMetricsIsOnLoopbackUnlessItNamesAHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"9390": "127.0.0.1:9390", ":9390": "127.0.0.1:9390", "0.0.0.0:0": "0.0.0.0:0", "[::1]:9390": "[::1]:9390", "web-1:http": "web-1:http",
		"": "", "web-1": "", "70000": "", "web-1:": "", "1:2:3": "",
	} {
		var l listenAt
		if err := l.Set(text); (err == nil) != (want != "") || string(l) != want {
			t.Errorf("%q: %q, %v; want %q", text, l, err, want)
		}
	}
}

// Without a majority the terms are those of an earlier reading. Shown as new, they would hide that nobody leads.
func TestOldTermsAreNoMetric(t *testing.T) {
	t.Parallel()
	for failure, want := range map[string]int{"": 1, "too few nodes answer and vote": 0} {
		s := &sample.Sampler{Every: time.Second, Read: func(context.Context) *sample.State {
			return &sample.State{At: 1, Error: failure, Elections: []sample.Election{{Name: "boss", Term: 7}}}
		}}
		if got := sampled(s)(t.Context()); len(got) != want {
			t.Errorf("with the error %q: %v", failure, got)
		}
		s.Wait()
	}
}
