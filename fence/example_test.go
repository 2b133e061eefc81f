package fence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/fencetest"
)

// A holder that was paused writes after a later holder was there. The file refuses it.
func ExampleFile() {
	dir, err := os.MkdirTemp("", "fence-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	report := fence.File{Path: filepath.Join(dir, "report")}

	first, second := fence.Token{Fence: 7}, fence.Token{Fence: 8} // of two leases, one after the other
	if err := report.Write(ctx, first, []byte("draft")); err != nil {
		log.Fatal(err)
	}
	// The first holder is paused. Its lease expires, and the second one comes.
	value, err := report.Read(ctx, second)
	fmt.Printf("%s %v\n", value, err)
	// The first holder goes on.
	err = report.Write(ctx, first, []byte("late"))
	fmt.Println(errors.Is(err, fence.ErrStale))
	var stale *fence.StaleError
	if errors.As(err, &stale) {
		fmt.Println(stale.Token, "/", stale.Mark)
	}
	// A person looks at the file, without a token.
	value, marks, err := report.Peek(ctx)
	fmt.Printf("%s %d %v\n", value, marks.Writer, err)
	// Output:
	// draft <nil>
	// true
	// token 7 of a writer / token 8 of a writer
	// draft 8 <nil>
}

// Two readers share a lease's name. Neither shuts out the other one, and both shut out older writers.
func ExampleMarks_Admit() {
	var m fence.Marks
	for _, t := range []fence.Token{
		{Fence: 5},
		{Fence: 8, Mode: fence.Reader},
		{Fence: 7, Mode: fence.Reader},
		{Fence: 6},
		{Fence: 9},
	} {
		next, err := m.Admit("account/42", t)
		fmt.Println(t, next, err)
		m = next
	}
	// Output:
	// token 5 of a writer {5 0} <nil>
	// token 8 of a reader {5 8} <nil>
	// token 7 of a reader {5 8} <nil>
	// token 6 of a writer {5 8} fence: "account/42": token 6 of a writer is old: token 8 of a reader was here
	// token 9 of a writer {9 8} <nil>
}

// Each object store with conditional writes can be a resource. This one is in memory.
func ExampleObject() {
	ctx := context.Background()
	store := &fencetest.Objects{}
	if err := fence.ProbeObjects(ctx, store, "probe"); err != nil {
		log.Fatal(err) // the store ignores a condition
	}
	state := fence.Object{Store: store, Key: "state"}
	fmt.Println(state.Write(ctx, fence.Token{Fence: 7}, []byte("seven")))
	value, err := state.Read(ctx, fence.Token{Fence: 8})
	fmt.Printf("%s %v\n", value, err)
	fmt.Println(state.Write(ctx, fence.Token{Fence: 7}, []byte("late")))

	body, _, err := store.Get(ctx, "state") // a program that reads without a token
	if err != nil {
		log.Fatal(err)
	}
	_, value, err = fence.ParseObject(body)
	fmt.Printf("%s %v\n", value, err)
	// Output:
	// <nil>
	// seven <nil>
	// fence: "state": token 7 of a writer is old: token 8 of a writer was here
	// seven <nil>
}

// The resource is on a Redis server of its own. The lock protects the time between the reading and the writing.
func ExampleRedis() {
	client := connect("web-1")
	defer client.Close()
	server := openServer("redis://10.0.0.9") // rueidisnode.New
	defer server.Close()
	state := fence.Redis{Server: server, Key: "state"}

	err := client.Mutex("state").Do(context.Background(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		value, err := state.Read(ctx, fence.Of(lease))
		if err != nil {
			return err // ErrStale: a later holder was there, so this one has lost the lock
		}
		fmt.Printf("read %q\n", value)
		return state.Write(ctx, fence.Of(lease), append(value, '+'))
	})
	fmt.Println(err)

	err = state.Write(context.Background(), fence.Token{Fence: 7}, []byte("late"))
	fmt.Println("a former holder is refused:", errors.Is(err, fence.ErrStale))
	// Output:
	// read ""
	// <nil>
	// a former holder is refused: true
}

// The check and the writes are one transaction. Slow work is outside of it: between the showing and the writing.
func ExampleSQL_Do() {
	db, err := sql.Open("pgx", "postgres://10.0.0.9/bank")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client := connect("web-1")
	defer client.Close()
	accounts := fence.SQL{Dialect: fence.Postgres}

	err = client.Mutex("account/42").Do(context.Background(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		return accounts.Do(ctx, db, "account/42", fence.Of(lease), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE account SET balance = balance + balance / 100 WHERE id = 42`)
			return err
		})
	})
	if err != nil {
		log.Print(err)
	}
}
