package demo

import (
	"fmt"
	"io"
	"os"

	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
)

// NodeArg is the first argument of a node process. The second is its address. A third argument, "again", says that the
// process replaces a killed node.
const NodeArg = "__demo-node"

// RunNode is the main function of a node process. It returns when standard input ends.
func RunNode(args []string) int {
	var opts []embedded.Option
	if len(args) == 2 && args[1] == "again" {
		opts = append(opts, embedded.Restarted())
	} else if len(args) != 1 {
		return forPeople()
	}
	n, err := embedded.Start(args[0], opts...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer n.Close()
	fmt.Println("ready", n.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// forPeople prints an explanation for a person who starts a process of the demo by hand.
func forPeople() int {
	fmt.Fprintln(os.Stderr, "holdfast: this is a part of holdfast demo and not for people")
	return 64
}
