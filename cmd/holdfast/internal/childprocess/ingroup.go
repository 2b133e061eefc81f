//go:build unix

package childprocess

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// groupVariable is the environment variable that contains the process group of a command.
const groupVariable = "HOLDFAST_GROUP"

// inGroup returns the environment of a command with its process group. This process becomes the command and leads the
// group.
func inGroup(env []string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, groupVariable+"=") })
	return append(env, groupVariable+"="+strconv.Itoa(syscall.Getpgrp()))
}

// InGroup reports whether this process is in the process group of the innermost command around it. That group is ended
// with the lock of that command. A process that has left the group is not ended.
func InGroup() bool { return os.Getenv(groupVariable) == strconv.Itoa(syscall.Getpgrp()) }
