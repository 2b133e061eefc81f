package fencing_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// Of knows the mode of a lease: a reader's token must not be able to write.
func TestOfKnowsAReader(t *testing.T) {
	client := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	lease, err := client.Mutex("x").RLock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Unlock(context.Background())
	if got := fence.Of(lease); got.Mode != fence.Reader {
		t.Errorf("the token of a shared lease is %s", got)
	}
}
