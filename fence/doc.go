// Package fence makes a resource refuse earlier holders. It compares the fencing token of a lease with the tokens
// that the resource has seen, and makes the access, in one atomic operation.
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
// The resource can. It keeps the highest tokens it has seen, and refuses lower ones. A comparison in the program is not
// enough, because the pause may come behind it. So it belongs to the write itself.
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
// The reading comes first and shows the token, too. Otherwise an earlier holder could still write between the reading
// and the writing, and its update would be lost.
//
// # Stores
//
//   - [File]: a file. Other programs can read it as usual.
//   - [Redis]: a hash on a Redis or Valkey server, by a script.
//   - [Object]: an object in a store with conditional writes, such as S3, through the small interface [Objects].
//   - [SQL]: rows in PostgreSQL, MySQL, MariaDB or SQLite, inside the caller's transaction, with any driver.
//
// The first three are a [Register]: one value under a name. A store of your own keeps [Marks], and calls [Marks.Admit]
// inside its atomic operation. Check it with the package fencetest.
//
// # The rule
//
// A resource has two marks: the highest token of a writer, and the highest one of a reader. A reader's token must not
// be below any writer seen. A writer's token must not be below any writer or reader seen. Equal tokens are of one
// lease, and are admitted. [Marks.Admit] is this rule, and all stores follow it.
//
// A token has the [Mode] of its lease. An exclusive lease is a [Writer], whether it reads or writes. That is the
// default. A shared lease is a [Reader].
//
// # What it needs
//
//   - Every access goes through this package. Nothing stops a writer that uses no token.
//   - One resource has one lock name. Tokens of two names cannot be compared. Tokens of a semaphore belong to a name and
//     a slot, so each slot needs a resource of its own.
//   - The resource does not forget its marks. If a store loses its last writes, such as a replica that becomes the
//     master, it accepts the tokens that it has forgotten.
//   - After an error that is not ErrStale, such as a timeout, a write may have happened or may still arrive. It cannot
//     arrive after a later holder has shown its token.
package fence
