//go:build unix

package childprocess

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// groupVariable is the environment variable with the process group of a command.
const groupVariable = "HOLDFAST_GROUP"

// inGroup returns the environment of a command, with its process group. This process leads the group.
func inGroup(env []string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, groupVariable+"=") })
	return append(env, groupVariable+"="+strconv.Itoa(syscall.Getpgrp()))
}

// InGroup reports whether this process belongs to the process group of the innermost command around it. The group ends
// with the lock of that command, and a process that has left the group does not.
func InGroup() bool { return os.Getenv(groupVariable) == strconv.Itoa(syscall.Getpgrp()) }
