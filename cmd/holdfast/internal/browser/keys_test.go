package browser

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

// press presses and releases a key with a character. A page that handles the key prevents the character.
func (b *tab) press(key string) {
	b.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		p := input.DispatchKeyEventParams{Type: kind, Key: key}
		if kind == input.DispatchKeyEventTypeKeyDown {
			p.Text = key
		}
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, p); err != nil {
			b.t.Fatal(err)
		}
	}
}

// TestEverythingWorksByKeyboard filters, sorts, pauses and changes the tab without a mouse.
func TestEverythingWorksByKeyboard(t *testing.T) {
	fence := 0
	b := open(t, serve(t, 100*time.Millisecond, func(context.Context) *sample.State {
		fence++
		s := reading(lock("alpha", "web-1/1", 0), lock("beta", "web-2/2", 5), lock("gamma", "web-3/3", 1)) // in this order
		s.Names[0].Holders[0].Fence = int64(fence)
		return s
	}))
	b.press("2")
	b.until("location.hash === '#/locks'")
	names := func(want string) {
		t.Helper()
		b.until("[...document.querySelectorAll('.locks tbody td.name')].map((e) => e.textContent.trim()).join() === '" + want + "'")
	}
	names("alpha,beta,gamma")
	b.press("/")
	b.until("document.activeElement.id === 'filter'")
	b.do(chromedp.KeyEvent("web-2"))
	names("beta")
	b.do(chromedp.KeyEvent(kb.Escape))
	names("alpha,beta,gamma")
	b.press("w")
	names("beta,gamma")
	b.press("w")
	names("alpha,beta,gamma")
	// A column sorts by its button, which Enter presses.
	eval[int](b, "[...document.querySelectorAll('.locks th button')].find((e) => e.innerText.startsWith('Waiters')).focus(), 0")
	b.do(chromedp.KeyEvent(kb.Enter))
	names("beta,gamma,alpha")
	b.until("document.querySelectorAll('.locks th[aria-sort=descending]').length === 1")
	b.do(chromedp.KeyEvent(kb.Enter))
	names("alpha,gamma,beta")
	for i, tab := range []string{"", "locks", "jobs", "elections", "semaphores", "nodes"} {
		b.press(strconv.Itoa(i + 1))
		b.until("location.hash === '#/" + tab + "' && document.querySelector('.tabs [aria-current]').getAttribute('href') === '#/" + tab + "'")
	}
	b.press("2")
	b.press("?")
	b.until("document.getElementById('keys').open")
	b.axe("keys")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until("!document.getElementById('keys').open")
	// A pause keeps the picture, and its end shows the latest reading.
	b.press("p")
	b.until("document.querySelector('header [role=status]').innerText === 'frozen'")
	before := b.text(".locks tbody td.fence")
	b.until("window.gaps.push(0) > 30") // frames go on
	if after := b.text(".locks tbody td.fence"); after != before {
		t.Errorf("the picture changed during the pause from %s to %s", before, after)
	}
	b.press("p")
	b.until("document.querySelector('.locks tbody td.fence').textContent !== '" + before + "'")
	b.clean()
}
