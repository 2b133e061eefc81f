package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

// TestMarkupInNamesIsText puts markup into each text that comes from the nodes.
func TestMarkupInNamesIsText(t *testing.T) {
	const evil = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>&amp;"'`
	b := open(t, serve(t, time.Second, func(context.Context) *sample.State {
		s := reading(lock(evil, evil, 3))
		s.Names[0].Kind, s.Names[0].Holders[0].Note, s.Names[0].Differ = evil, evil, evil
		s.Nodes[0] = sample.Node{Addr: evil, Label: evil, Said: evil, Version: evil}
		s.Jobs = []sample.Job{{Name: evil, State: evil, Host: evil, Error: evil, Schedule: evil}}
		s.Elections = []sample.Election{{Name: evil, Leader: evil, Value: evil}}
		s.JobsError, s.Cluster, s.Pattern = evil, evil, evil
		s.Problems = []sample.Problem{{Level: "bad", Kind: "lock", Name: evil, Text: evil}}
		return s
	}))
	b.until("document.querySelectorAll('.elections tbody tr').length == 1")
	has := func(hash string, selectors ...string) {
		t.Helper()
		b.visit(hash, selectors[0])
		for _, at := range selectors {
			if !strings.Contains(b.text(at), evil) {
				t.Errorf("%s has no such text: %s", at, b.text(at))
			}
		}
	}
	has("#/", "#problems a", ".set", ".jobs td.said", ".nodes td.name")
	has("#/locks", ".locks td.name", ".locks td.kind", ".locks td.holder", ".locks td.differ")
	has("#/jobs", ".jobs td.said", ".notice")
	has("#/elections", ".elections td.value")
	b.do(chromedp.Click(".elections td.name a"))
	has(eval[string](b, "location.hash"), ".subject code", ".facts")
	if n := eval[int](b, "document.querySelectorAll('#app img, #app script').length"); n > 0 {
		t.Errorf("%d elements came from texts", n)
	}
	if eval[bool](b, "'hit' in window") {
		t.Error("a script of a name ran")
	}
	b.clean()
	// The policy refuses a script even if some text became markup.
	eval[int](b, `{ const s = document.createElement('p'); try { s.innerHTML = '<img src=x onerror="window.hit=1">'; document.body.append(s); } catch (e) { window.refused = String(e) } } 0`)
	if !eval[bool](b, "'refused' in window && !('hit' in window)") {
		t.Error("the policy lets a text become markup")
	}
}

// TestTheLongestNamesFit shows a name of 1,000 characters without a space.
func TestTheLongestNamesFit(t *testing.T) {
	long := strings.Repeat("größe-", 160)
	b := open(t, serve(t, time.Second, func(context.Context) *sample.State {
		s := reading(lock(long, strings.Repeat("w", 64), 1234567))
		s.Jobs = []sample.Job{{Name: long, State: "failed", Host: long, Error: long}}
		s.Elections = []sample.Election{{Name: long, Leader: long, Value: long}}
		return s
	}))
	for _, hash := range []string{"#/", "#/locks", "#/jobs", "#/elections", "#/lock/" + long} {
		for _, width := range []int64{1280, 360} {
			eval[int](b, fmt.Sprintf("location.hash = %q, 0", hash))
			b.look(width, "light", "long-"+map[bool]string{true: "narrow", false: "wide"}[width < 600])
			if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				t.Errorf("%s, %d: the page is %d pixels too wide", hash[:min(len(hash), 20)], width, over)
			}
		}
	}
	b.clean()
}
