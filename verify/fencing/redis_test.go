package fencing_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/fencetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// open returns a node of a new server, and the server.
func open(t *testing.T) (node.Node, *redistest.Server) {
	t.Helper()
	s := redistest.Start(t)
	nodes, err := rueidisnode.Open("redis://" + s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes[0].Close)
	return nodes[0], s
}

func TestRedisIsFenced(t *testing.T) {
	t.Parallel()
	n, _ := open(t)
	fencetest.Run(t, func(_ context.Context, name string) (fence.Register, error) {
		return fence.Redis{Server: n, Key: name}, nil
	})
}

func TestRedisIsFencedThroughGoRedis(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	n, err := goredisnode.New(client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	fencetest.Run(t, func(_ context.Context, name string) (fence.Register, error) {
		return fence.Redis{Server: n, Key: name}, nil
	})
}

// twoSteps compares with one command and writes with another one, as a program without a script would do.
type twoSteps struct {
	client *redis.Client
	key    string
}

func (s twoSteps) access(ctx context.Context, t fence.Token) error {
	var m fence.Marks
	found, err := s.client.HMGet(ctx, s.key, "writer", "reader").Result()
	if err != nil {
		return err
	}
	for i, mark := range []*int64{&m.Writer, &m.Reader} {
		if found[i] != nil {
			if _, err := fmt.Sscan(found[i].(string), mark); err != nil {
				return err
			}
		}
	}
	next, err := m.Admit(s.key, t)
	if err != nil || next == m {
		return err
	}
	return s.client.HSet(ctx, s.key, "writer", next.Writer, "reader", next.Reader).Err()
}

func (s twoSteps) Read(ctx context.Context, t fence.Token) ([]byte, error) {
	if err := s.access(ctx, t); err != nil {
		return nil, err
	}
	value, err := s.client.HGet(ctx, s.key, "value").Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return value, err
}

func (s twoSteps) Write(ctx context.Context, t fence.Token, value []byte) error {
	if err := s.access(ctx, t); err != nil {
		return err
	}
	if t.Mode == fence.Reader {
		return fence.ErrReader
	}
	return s.client.HSet(ctx, s.key, "value", value).Err()
}

// The race of a compare and a write that are two commands is found on a real server.
func TestTheSuiteFindsTwoStepsOnRedis(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	err := fencetest.Check(t.Context(), func(_ context.Context, name string) (fence.Register, error) {
		return twoSteps{client, name}, nil
	})
	if want := "NothingComesBetweenCompareAndWrite: round "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// The script and [fence.Marks.Admit] are the same rule. This compares them on marks and tokens around each other.
func TestTheScriptFollowsTheRule(t *testing.T) {
	t.Parallel()
	n, s := open(t)
	client := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	refused := 0
	for i := range 3000 {
		base := []int64{1, 9, 99, 1 << 53, 1_790_000_000_000_000, 1<<63 - 5}[rng.IntN(6)]
		m := fence.Marks{Writer: base + rng.Int64N(4), Reader: base + rng.Int64N(4)}
		if rng.IntN(4) == 0 {
			m.Reader = 0
		}
		token := fence.Token{Fence: base + rng.Int64N(4), Mode: fence.Mode(rng.IntN(2))}
		if err := client.HSet(t.Context(), "x", "writer", fmt.Sprintf("%019d", m.Writer), "reader", fmt.Sprintf("%019d", m.Reader)).Err(); err != nil {
			t.Fatal(err)
		}
		want, rule := m.Admit("x", token)
		_, err := fence.Redis{Server: n, Key: "x"}.Read(t.Context(), token)
		if fmt.Sprint(err) != fmt.Sprint(rule) {
			t.Fatalf("seed %d, call %d: %+v and %s: the script says %v, the rule says %v", seed, i, m, token, err, rule)
		}
		kept, err := client.HMGet(t.Context(), "x", "writer", "reader").Result()
		if err != nil || kept[0] != fmt.Sprintf("%019d", want.Writer) || kept[1] != fmt.Sprintf("%019d", want.Reader) {
			t.Fatalf("seed %d, call %d: %+v and %s: the script keeps %v, %v; want %+v", seed, i, m, token, kept, err, want)
		}
		if rule != nil {
			refused++
		}
	}
	if refused < 500 || refused > 2500 {
		t.Errorf("%d of 3,000 tokens are refused: are they still around the marks?", refused)
	}
}

func TestErrorsOfRedisSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	n, s := open(t)
	client := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	ctx := t.Context()
	if err := errors.Join(client.Set(ctx, "text", "x", 0).Err(), client.HSet(ctx, "other", "writer", "seven").Err(),
		client.HSet(ctx, "short", "writer", "7").Err()); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"":                       "bad name of a resource: it is empty",
		"a\x00b":                 "contains a NUL byte",
		"\xff":                   "is not UTF-8",
		strings.Repeat("x", 513): "it has 513 bytes; at most 512 are possible",
		"text":                   "WRONGTYPE",
		"other":                  "are no marks of package fence",
		"short":                  "are no marks of package fence",
	} {
		err := fence.Redis{Server: n, Key: key}.Write(ctx, fence.Token{Fence: 9}, nil)
		if err == nil || errors.Is(err, fence.ErrStale) || !strings.Contains(err.Error(), want) {
			t.Errorf("key %.20q: %v; want %q", key, err, want)
		}
	}
	if err := (fence.Redis{Key: "x"}).Write(ctx, fence.Token{Fence: 9}, nil); err == nil || !strings.Contains(err.Error(), "the field Server is nil") {
		t.Errorf("no server: %v", err)
	}
	s.Kill()
	if err := (fence.Redis{Server: n, Key: "x"}).Write(ctx, fence.Token{Fence: 9}, nil); err == nil || errors.Is(err, fence.ErrStale) {
		t.Errorf("a dead server: %v", err)
	}
}
