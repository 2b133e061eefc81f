// Package fence makes a resource refuse the late writes of earlier lock holders. For each access, one atomic
// operation compares the fencing token of the lease with the tokens that the resource has seen, and then reads or
// writes.
//
// # Use
//
// A holder reads with its token, works, and writes with its token:
//
//	err := client.Mutex("account/42").Do(ctx, func(ctx context.Context) error {
//		lease, _ := holdfast.FromContext(ctx)
//		token := fence.Of(lease)
//		value, err := account.Read(ctx, token) // from now on earlier holders are refused
//		if err != nil {
//			return err
//		}
//		return account.Write(ctx, token, change(value))
//	})
//	if errors.Is(err, fence.ErrStale) {
//		// a later holder was here: nothing was written
//	}
//
// The holder must read with its token, too. The resource then knows the token, and refuses earlier holders from that
// moment. Otherwise an earlier holder could write between the read and the write, and this holder would overwrite
// that change.
//
// # Why
//
// No lock can stop a process that is paused between its check of the lease and its write:
//
//	if lease.Context().Err() == nil { // the lease is valid
//		// The process is paused here for a minute. Its lease expires, and another holder writes.
//		os.WriteFile(path, value, 0o600) // overwrites what the other holder wrote
//	}
//
// The resource can stop such a write. It keeps the highest tokens that it has seen, and refuses lower ones. The
// program itself cannot compare the tokens before it writes: it may be paused again between the comparison and the
// write. So the comparison must be a part of the write.
//
// # Stores
//
//   - [File]: a file. Other programs can read it as usual.
//   - [Redis]: a hash on a Redis or Valkey server, by a script.
//   - [Object]: an object in a store with conditional writes, such as S3, through the small interface [Objects].
//   - [SQL]: rows in PostgreSQL, MySQL, MariaDB or SQLite, inside the caller's transaction, with any driver.
//
// The first three are a [Register]: one value under a name. To use another store, keep [Marks] in the store, and call
// [Marks.Admit] inside its atomic operation. Package fencetest has a test for such a store.
//
// # The rule
//
// A resource keeps two numbers, its marks: the highest token of a writer and the highest token of a reader. A reader
// is refused if its token is lower than the mark of the writers. A writer is refused if its token is lower than
// either mark. An equal token comes from the same lease, and is accepted. [Marks.Admit] is this rule, and all stores
// use it.
//
// A token has the [Mode] of its lease. The token of an exclusive lease has the mode [Writer], even for a read. This
// is the default. The token of a shared lease has the mode [Reader].
//
// # What it needs
//
//   - Every access must go through this package. A program that writes without a token is not stopped.
//   - One resource has one lock name. Tokens of two names cannot be compared. Each slot of a semaphore has its own
//     sequence of tokens, so each slot needs its own resource.
//   - The resource must not forget its marks. If a store loses its last writes, for example when a replica replaces its
//     master, it accepts old tokens again.
//   - After an error that is not ErrStale, such as a timeout, a write may have happened or may still arrive. It cannot
//     arrive after a later holder has used its token.
package fence
