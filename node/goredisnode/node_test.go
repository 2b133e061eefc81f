package goredisnode_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/nodetest"
)

// quiet drops the log of go-redis, which contains a line for each failed dial. Most of these tests make dials fail.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(quiet{}) }

func TestConformance(t *testing.T) { nodetest.Run(t, open) }

func FuzzServer(f *testing.F) { nodetest.Fuzz(f, open) }

func open(t *testing.T, url string) node.Node {
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close() // the node has its own client
	n, err := goredisnode.New(client)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
