// Command workers processes the files of a directory. Start it on as many machines as you like: each file is processed
// by one of them.
//
//	go run ./examples/workers DIRECTORY
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: workers DIRECTORY")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	client, err := open()
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := work(ctx, client, os.Args[1], 4); err != nil {
		log.Fatal(err)
	}
}

// work processes all files of a directory that nobody has processed, with n goroutines.
func work(ctx context.Context, client *holdfast.Client, directory string, n int) error {
	files, err := filepath.Glob(filepath.Join(directory, "*.todo"))
	if err != nil {
		return err
	}
	tasks := make(chan string)
	var wait sync.WaitGroup
	var once sync.Once
	var failure error
	for range n {
		wait.Go(func() {
			for file := range tasks {
				if err := process(ctx, client, file); err != nil {
					once.Do(func() { failure = fmt.Errorf("%s: %w", file, err) })
				}
			}
		})
	}
	for _, file := range files {
		tasks <- file
	}
	close(tasks)
	wait.Wait()
	return failure
}

// process processes a file under its lock. If another worker has the lock, that worker does it.
func process(ctx context.Context, client *holdfast.Client, file string) error {
	ran := false
	err := client.Mutex("todo/"+filepath.Base(file)).TryDo(ctx, func(ctx context.Context) error {
		ran = true
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			return nil // another worker processed it before this one got the lock
		}
		if err != nil {
			return err
		}
		// The rename is the last step. Without it, a worker that dies leaves the file to the next one.
		if err := os.WriteFile(file+".tmp", []byte(strings.ToUpper(string(text))), 0o644); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx) // the lock is lost: another worker may process the file now
		}
		return errors.Join(os.Rename(file+".tmp", strings.TrimSuffix(file, ".todo")+".done"), os.Remove(file))
	})
	if !ran && errors.Is(err, holdfast.ErrHeld) {
		return nil
	}
	return err
}

// open makes a client of the nodes in HOLDFAST_NODES.
func open() (*holdfast.Client, error) {
	urls := os.Getenv("HOLDFAST_NODES")
	if urls == "" {
		urls = "redis://127.0.0.1:6379"
	}
	nodes, err := rueidisnode.Open(strings.Split(urls, ",")...)
	if err != nil {
		return nil, err
	}
	return holdfast.New(holdfast.Config{Nodes: nodes})
}
