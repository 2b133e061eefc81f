//go:build linux

package fencing

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/fencetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func TestMain(m *testing.M) { Main(m, open) }

// open opens a register in a folder, on a Redis server or in a bucket.
func open(store, name string) (fence.Register, error) {
	switch scheme, rest, _ := strings.Cut(store, ":"); scheme {
	case "file":
		return fence.File{Path: filepath.Join(rest, name), NoSync: true}, nil
	case "redis":
		nodes, err := rueidisnode.Open(store)
		if err != nil {
			return nil, err
		}
		return fence.Redis{Server: nodes[0], Key: name}, nil
	case "http":
		return fence.Object{Store: Bucket{URL: store}, Key: name}, nil
	}
	return nil, fmt.Errorf("unknown store %q", store)
}

// rounds is the number of pauses on each store.
func rounds() int {
	if testing.Short() {
		return 8
	}
	return 1000
}

func TestPausedHoldersWriteNothingIntoAFile(t *testing.T) {
	t.Parallel()
	Judge(t, Workload{Open: open, Store: "file:" + t.TempDir(), Rounds: rounds()})
}

func TestPausedHoldersWriteNothingIntoRedis(t *testing.T) {
	t.Parallel()
	Judge(t, Workload{Open: open, Store: "redis://" + redistest.Start(t).Addr(), Rounds: rounds()})
}

func TestPausedHoldersWriteNothingIntoAnObject(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(Serve(&fencetest.Objects{}))
	t.Cleanup(s.Close)
	Judge(t, Workload{Open: open, Store: s.URL, Rounds: rounds()})
}

// Objects over HTTP keep the promises of an object store, and the whole suite passes on them.
func TestObjectsOverHTTPAreFenced(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(Serve(&fencetest.Objects{}))
	t.Cleanup(s.Close)
	if err := fence.ProbeObjects(t.Context(), Bucket{URL: s.URL}, "probe"); err != nil {
		t.Fatal(err)
	}
	fencetest.Run(t, func(_ context.Context, name string) (fence.Register, error) {
		return fence.Object{Store: Bucket{URL: s.URL}, Key: url.PathEscape(name)}, nil
	})
}
