package demo

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// The test binary is also every process of the demo, and the demo itself where a test
// kills it.
func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	if len(os.Args) > 2 && os.Args[1] == NodeArg {
		os.Exit(RunNode(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == WorkerArg {
		os.Exit(RunWorker(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "demo" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT)
		err := Run(ctx, os.Stdout, false)
		stop()
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
