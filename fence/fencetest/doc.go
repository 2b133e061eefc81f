// Package fencetest checks resources that refuse old fencing tokens. Run it on a store of your own, that is, on an
// implementation of [fence.Register]:
//
//	func TestMyStoreIsFenced(t *testing.T) {
//		fencetest.Run(t, func(_ context.Context, name string) (fence.Register, error) {
//			return &myStore{db: db, name: name}, nil
//		})
//	}
//
// The suite finds a store that ignores tokens, that has one mark instead of two, that compares before it writes and not
// at the same time, that rounds large tokens, and that forgets the marks between two handles. It makes a few thousand
// calls. The names that it uses are new each time, and what it writes stays in the store.
//
// [Check] does the same without a test, for example when a program meets a server for the first time.
//
// A race can only be found by trying. The checks of races make 30 rounds each, in which writers of the past write
// without a pause while a new holder comes. A store that compares and writes in two steps fails such a round sooner or
// later: how soon depends on the time between its two steps.
//
// [Objects] is an object store in memory, with the conditional writes of S3. [fence.ProbeObjects] checks an object
// store of your own.
package fencetest
