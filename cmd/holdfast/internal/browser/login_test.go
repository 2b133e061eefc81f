package browser

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/ui"
)

// TestATokenOpensThePage enters a wrong token and then the right one, over TLS.
func TestATokenOpensThePage(t *testing.T) {
	const token = "correct horse battery"
	s := &sample.Sampler{Every: time.Second, Read: func(context.Context) *sample.State { return reading(lock("orders/1", "web-1/1", 0)) }}
	server := httptest.NewTLSServer(ui.Handler(ui.Config{Sampler: s, Token: token, TLS: true}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		s.Wait()
	})
	b := open(t, server.URL)
	b.until("location.pathname === '/login' && document.activeElement.id === 'token'")
	b.axe("login")
	b.keep("login", run(b, chromedp.FullScreenshot(100)))
	b.do(chromedp.KeyEvent("something else" + kb.Enter))
	b.until("document.getElementById('wrong')")
	b.axe("wrong token")
	if eval[int](b, "fetch('/events').then((r) => r.status)") != 401 {
		t.Error("a wrong token gets readings")
	}
	b.do(chromedp.KeyEvent(token + kb.Enter))
	b.until("document.querySelector('.locks tbody')?.textContent.includes('orders/1')")
	if eval[bool](b, "document.cookie !== ''") {
		t.Error("a script of the page can read the cookie")
	}
}
