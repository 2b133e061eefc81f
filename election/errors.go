package election

import "errors"

// Check for these errors with [errors.Is].
var (
	// ErrResigned means that the caller itself ended its term with [Election.Resign].
	ErrResigned = errors.New("the leader has resigned")

	// ErrNoLeader means that nobody leads the election at the moment. From Resign it means that this Election value
	// leads no term.
	ErrNoLeader = errors.New("nobody leads")

	// ErrNoElection means that the value of this name was not published by a leader. For example, it is the last tick
	// of a job.
	ErrNoElection = errors.New("the name has a value that no leader published: use another name for the election")

	// ErrBadPause means that the pause of [ResignPause] is negative.
	ErrBadPause = errors.New("bad pause")
)
