// Package fencetest checks resources that refuse old fencing tokens. Run it on a store of your own, that is, on an
// implementation of [fence.Register]:
//
//	func TestMyStoreIsFenced(t *testing.T) {
//		fencetest.Run(t, func(_ context.Context, name string) (fence.Register, error) {
//			return &myStore{db: db, name: name}, nil
//		})
//	}
//
// The suite finds these defects of a store: it ignores tokens, it has one mark and not two, it compares the token
// before the write and not together with it, it rounds large tokens, or it forgets the marks when another handle is
// opened. The suite makes a few thousand calls. It uses new names each time, and does not delete what it writes.
//
// [Check] does the same outside of a test. A program can call it when it meets a server for the first time.
//
// Only many tries can find a race. So each check of a race has 30 rounds. In a round, holders with old tokens write
// without a pause while a new holder comes. If a store compares and writes in two steps, some round fails. How soon
// this happens depends on the time between the two steps.
//
// [Objects] is an object store in memory with the conditional writes of S3. To check your own object store, use
// [fence.ProbeObjects].
package fencetest
