package node_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/holdfast-go/holdfast/node"
)

// A driver makes its errors with ServerError and NotSent. Holdfast and programs look at them with these functions, and
// need not know the driver.
func Example() {
	for _, err := range []error{
		node.ServerError("-NOSCRIPT No matching script."),
		node.NotSent(errors.New("no connection is free")),
		node.ErrLate,
		context.DeadlineExceeded,
		syscall.ECONNREFUSED,
		io.EOF,
	} {
		advice := "correct the program"
		switch {
		case node.Code(err) == node.NoScript:
			advice = "load the script"
		case node.Late(err):
			advice = "this process is too busy"
		case node.Timeout(err):
			advice = "the server hangs, or the network"
		case node.Refused(err):
			advice = "start the server"
		case node.Disconnected(err):
			advice = "the server ended, or the network"
		}
		fmt.Printf("%s (certainly not executed: %t): %s\n", node.Reason(err), node.Unsent(err), advice)
	}
	// Output:
	// NOSCRIPT No matching script. (certainly not executed: true): load the script
	// no connection is free (certainly not executed: true): correct the program
	// not asked in time: this process was too busy (certainly not executed: true): this process is too busy
	// timed out (certainly not executed: false): the server hangs, or the network
	// connection refused (certainly not executed: true): start the server
	// connection lost (certainly not executed: false): the server ended, or the network
}

// A name with a tag in braces is in the hash slot of its tag.
func ExampleSlotOf() {
	fmt.Println(node.SlotOf("{tenant7}:orders") == node.SlotOf("{tenant7}:invoices"), node.SlotOf("foo"))
	// Output: true 12182
}
