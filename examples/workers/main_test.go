package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// patient is for a busy machine, on which a request may reach a node late.
var patient = holdfast.Config{Window: time.Second}

func TestEachFileIsProcessedOnce(t *testing.T) {
	nodes, directory := holdfasttest.Start(t, 3), t.TempDir()
	const files = 40
	for i := range files {
		if err := os.WriteFile(filepath.Join(directory, fmt.Sprint(i, ".todo")), []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	errs := make([]error, 3)
	var wait sync.WaitGroup
	for i := range errs { // three machines
		wait.Go(func() { errs[i] = work(t.Context(), nodes.Client(t, patient), directory, 4) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err) // Rename or Remove fails if two workers process a file
	}
	done, _ := filepath.Glob(filepath.Join(directory, "*.done"))
	all, _ := filepath.Glob(filepath.Join(directory, "*"))
	if len(done) != files || len(all) != files {
		t.Errorf("%d files are done, of %d", len(done), len(all))
	}
}
