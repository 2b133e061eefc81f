// Package election elects one leader among any number of candidates. Candidates are goroutines or processes on any
// number of machines. All of them run this program:
//
//	e := election.New(client, "db-writer")
//	err := e.Run(ctx, func(ctx context.Context, term election.Term) error {
//		return write(ctx, term.Fence) // stops when ctx ends: then another candidate may lead
//	})
//
// [Election.Run] waits for the leadership, leads a term, and begins again. The leader has the lock of the election's
// name: see package holdfast.
//
// # Words
//
//   - candidate: a call of [Election.Run]. At most one candidate of a name leads at a time.
//   - term: a time for which one candidate leads. Its number is the fencing token of the lock.
//   - vacancy: a time in which nobody leads.
//   - observer: a call of [Election.Observe]. It receives [News].
//
// # What is guaranteed
//
// Terms of one name do not overlap, and their numbers grow. The conditions are those of the lock. When a leader
// resigns, the next term begins only after its callback has returned. When it loses the leadership, the context of its
// callback ends before the next term begins. Candidates lead in the order in which they came.
//
// Observers never see an earlier term after a later one. They see a value only in the term of the leader that published
// it, and a vacancy between two terms.
//
// # What is not guaranteed
//
// A leader that is paused past its deadline learns of the loss too late. Send [Term.Fence] with each write, and let the
// resource refuse a lower number. Observers ask the nodes once a second, and show a dead leader until its TTL ends.
// docs/guide/election.md has more.
package election
