package verdict_test

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/verdict"
)

// A node's answer has a code for programs and words for people. Answers are in the errors of package holdfast, and in
// the results of package admin.
func ExampleAnswer() {
	n := verdict.Answer{
		Node: "redis://10.0.0.1:6379/0", Reason: verdict.ReasonQuarantined, Cause: verdict.CauseRestarted, VotesIn: 7 * time.Second,
	}
	fmt.Println(n.Votes(), n.Reason, n.Cause)
	fmt.Println(n)
	// Output:
	// false quarantined restarted
	// redis://10.0.0.1:6379/0: quarantined for another 7s: it restarted
}

// An owner is the text under which nodes store a lock.
func ExampleHolderOf() {
	fmt.Println(verdict.HolderOf("web-3/4711~aNCcEcFV05Jt~hom0qrwcg7-Q6kNHF3eLDlK7UCI", false))
	fmt.Println(verdict.HolderOf("somebody else", true)) // the key of another library
	// Output:
	// web-3/4711
	// a foreign key ("somebody else")
}

// Two of three nodes name one holder, so it has the lock.
func ExampleJudge() {
	web3 := verdict.Answer{Reason: verdict.ReasonHeld, Owner: "web-3~aNCcEcFV05Jt~hom0qrwcg7-Q6kNHF3eLDlK7UCI", Fence: 17}
	down := verdict.Answer{Reason: verdict.ReasonRefused, Err: syscall.ECONNREFUSED}

	j := verdict.Judge([]verdict.Answer{web3, web3, down})
	fmt.Println(j.Known, j.Held, j.Holders[0])
	j = verdict.Judge([]verdict.Answer{web3, down, down})
	fmt.Println(j.Known)
	// Output:
	// true true web-3
	// false
}

// Hint says what a person can do.
func ExampleHint() {
	down := verdict.Answer{Node: "redis://10.0.0.1:6379/0", Reason: verdict.ReasonRefused, Err: errors.New("connection refused")}
	fmt.Println(verdict.Hint([]verdict.Answer{down}))
	// Output: nothing listens at an address that answers "connection refused": start the server, or correct the URL
}
