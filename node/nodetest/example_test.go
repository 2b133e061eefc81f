package nodetest_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/exampleset"
	"github.com/holdfast-go/holdfast/node/nodetest"
)

// test runs the body of a test: func TestMyDriver(t *testing.T).
func test(f func(t testing.TB)) { exampleset.Test(f) }

// A test of a driver that is not in the suite gets a server of its own.
func ExampleServer() {
	test(func(t testing.TB) {
		url := nodetest.Server(t)
		var d net.Dialer
		conn, err := d.DialContext(context.Background(), "tcp", strings.TrimPrefix(url, "redis://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Println("the server listens")
	})
	// Output: the server listens
}
