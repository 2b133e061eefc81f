package otelholdfast

import (
	"context"
	"testing"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// book records the spans of a test.
type book struct {
	t        *testing.T
	provider *sdk.TracerProvider
	spans    *tracetest.SpanRecorder
	*Traces
}

func newBook(t *testing.T) *book {
	spans := tracetest.NewSpanRecorder()
	p := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	return &book{t, p, spans, NewTraces(TracesOptions{TracerProvider: p})}
}

// await waits for n ended spans with a name, and returns the last one.
func (b *book) await(name string, n int) sdk.ReadOnlySpan {
	b.t.Helper()
	var found []sdk.ReadOnlySpan
	redistest.Eventually(b.t, 15*time.Second, "spans "+name, func() bool {
		found = nil
		for _, s := range b.spans.Ended() {
			if s.Name() == name {
				found = append(found, s)
			}
		}
		return len(found) >= n
	})
	return found[n-1]
}

func attr(s sdk.ReadOnlySpan, k attribute.Key) string {
	set := attribute.NewSet(s.Attributes()...)
	v, _ := set.Value(k)
	return v.String()
}

func TestAHoldIsLinkedToItsWait(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	servers := start(t, 1)
	c := open(t, servers, b.Observer())
	held := lock(t, open(t, servers), "x")
	ctx, parent := b.provider.Tracer("test").Start(t.Context(), "request")
	got := make(chan *holdfast.Lease)
	began := time.Now()
	go func() {
		l, err := c.Mutex("x").Lock(ctx)
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	redistest.Eventually(t, 10*time.Second, "a waiter", func() bool { return c.Stats().Waiting["x"] == 1 && time.Since(began) > 100*time.Millisecond })
	unlock(t, held)
	l := <-got
	fence := l.Fence()
	redistest.Eventually(t, 10*time.Second, "the hold takes a while", func() bool { return time.Since(began) > 300*time.Millisecond })
	unlock(t, l)
	parent.End()
	wait, hold := b.await("holdfast wait", 1), b.await("holdfast hold", 1)
	for _, s := range []sdk.ReadOnlySpan{wait, hold} {
		if s.Parent().SpanID() != parent.SpanContext().SpanID() || attr(s, name) != "x" || attr(s, "holdfast.lock.fence") != attribute.Int64("", fence).Value.String() {
			t.Errorf("%s: parent %s, attributes %v", s.Name(), s.Parent().SpanID(), s.Attributes())
		}
		if s.Status().Code != codes.Unset {
			t.Errorf("%s has the status %v", s.Name(), s.Status())
		}
	}
	if attr(wait, outcome) != "acquired" || attr(hold, outcome) != "released" || wait.SpanKind() != trace.SpanKindClient {
		t.Errorf("wait %v, hold %v", wait.Attributes(), hold.Attributes())
	}
	if links := hold.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != wait.SpanContext().SpanID() {
		t.Errorf("the links of the hold are %v", links)
	}
	if took := wait.EndTime().Sub(wait.StartTime()); took < 100*time.Millisecond || wait.StartTime().Before(began.Add(-10*time.Millisecond)) || hold.StartTime().Before(wait.EndTime()) {
		t.Errorf("the wait is from %s to %s, the hold begins at %s", wait.StartTime(), wait.EndTime(), hold.StartTime())
	}
}

func TestALossIsAnError(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	servers := start(t, 1)
	c, other := open(t, servers, b.Observer()), open(t, servers)
	l := lock(t, c, "x")
	if _, err := admin.Unlock(t.Context(), other, "x", admin.UnlockOptions{}); err != nil {
		t.Fatal(err)
	}
	<-l.Context().Done()
	hold := b.await("holdfast hold", 1)
	if hold.Status().Code != codes.Error || attr(hold, outcome) != "lost" || attr(hold, cause) != "forced" || attr(hold, errorType) != "forced" {
		t.Errorf("status %v, attributes %v", hold.Status(), hold.Attributes())
	}
}

func TestARefusalIsAWaitWithoutAHold(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	servers := start(t, 1)
	c := open(t, servers, b.Observer())
	lock(t, open(t, servers), "x")
	_, _ = c.Mutex("x").TryLock(t.Context())
	if wait := b.await("holdfast wait", 1); attr(wait, outcome) != "refused" || attr(wait, reason) != "held" || wait.Status().Code != codes.Unset {
		t.Errorf("status %v, attributes %v", wait.Status(), wait.Attributes())
	}
	servers[0].Kill()
	_, _ = c.Mutex("x").TryLock(t.Context())
	if wait := b.await("holdfast wait", 2); attr(wait, reason) != "unavailable" || attr(wait, errorType) != "unavailable" || wait.Status().Code != codes.Error {
		t.Errorf("status %v, attributes %v", wait.Status(), wait.Attributes())
	}
	if n := len(b.spans.Started()); n != 2 {
		t.Errorf("%d spans, want 2", n)
	}
}

func TestReadersShareOneHoldWhichEndsAfterADowngrade(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	c := open(t, start(t, 1), b.Observer())
	w := lock(t, c, "x")
	if err := w.Downgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	unlock(t, w)
	b.await("holdfast hold", 1)
	one, err := c.Mutex("y").RLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.Mutex("y").RLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock(t, one)
	unlock(t, two)
	b.await("holdfast wait", 3)
	b.await("holdfast hold", 2)
	if n := len(b.spans.Started()); n != 5 {
		t.Errorf("%d spans, want 5", n)
	}
}

func TestNoSpanStaysOpenForEver(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	e := func(k holdfast.EventKind, id string) *holdfast.Event {
		return &holdfast.Event{Kind: k, Lease: id, Name: "x", Time: time.Now(), Context: context.Background()}
	}
	see := b.Observer().Observe
	for i := range mostHolds + 10 {
		see(e(holdfast.EventAcquired, string(rune(i))))
	}
	if n := len(b.holds); n > mostHolds {
		t.Errorf("%d open spans, at most %d are allowed", n, mostHolds)
	}
	see(e(holdfast.EventMissed, ""))
	if n := len(b.holds); n != 0 {
		t.Errorf("%d open spans after missed events", n)
	}
	if hold := b.await("holdfast hold", 1); attr(hold, outcome) != "unknown" {
		t.Errorf("attributes %v", hold.Attributes())
	}
}

// A name may have any bytes. An exporter would drop all spans of a batch in which one text is not UTF-8.
func TestSpansHaveValidText(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	servers := start(t, 1)
	c := open(t, servers, b.Observer())
	const bad = "a\xffb"
	l := lock(t, c, bad)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Mutex(bad).Lock(ctx); err == nil {
		t.Error("two leases")
	}
	unlock(t, l)
	b.await("holdfast wait", 2)
	b.await("holdfast hold", 1)
	for _, s := range b.spans.Ended() {
		if got := attr(s, name); got != "a\uFFFDb" {
			t.Errorf("%s: the name is %q", s.Name(), got)
		}
		if d := s.Status().Description; !utf8.ValidString(d) {
			t.Errorf("%s: the description is %q", s.Name(), d)
		}
	}
}
