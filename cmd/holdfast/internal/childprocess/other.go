//go:build !unix

package childprocess

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// Without process groups, nothing makes a command end with its lock. So holdfast runs no commands on this system. All
// other parts of holdfast work.

// Supported returns an error, because this system cannot run commands.
func Supported() error { return errUnix }

var errUnix = errors.New("commands are run on Unix only; the library and the other commands work here, too")

// signals.go explains Ending and JobControl.
var Ending, JobControl = []os.Signal{os.Interrupt}, []os.Signal{}

// childprocess.go explains Command and the declarations below.
type Command struct {
	Path                  string
	Args, Env             []string
	Stdin, Stdout, Stderr *os.File
	Dir                   string
	Within                context.Context
	User                  *User
	Signals               <-chan os.Signal
	Until                 func() time.Time
	Watchdog              *Watchdog
	Report                func(format string, args ...any)
}

type Child struct{}

type User struct{ Name, Home string }

func LookUpUser(string) (*User, error) { return nil, errUnix }
func MayBecome(string) error           { return errUnix }
func (*User) Own(...*os.File)          {}

func CanEnter(context.Context, string, *User) error { return errUnix }

func InGroup() bool { return false }

func Start(Command) (*Child, error) { return nil, errUnix }

func (*Child) Exited() <-chan struct{} { return nil }
func (*Child) Exit() Exit              { return Exit{} }
func (*Child) Left() bool              { return false }
func (*Child) End(time.Duration)       {}
func (*Child) Finish()                 {}
func (*Child) Relay()                  {}
func (*Child) EndedBy() syscall.Signal { return 0 }

func Replace(string, []string, []string) error { return errUnix }

func OnTerminal() bool { return false }
func Interrupt()       {}

type Watchdog struct{}

const (
	WatchdogArg = "__watchdog"
	StarterArg  = "__start"
)

var ErrLate = errors.New("the lock was lost before the command could begin")

func StartWatchdog(_, _ time.Duration, _ func(string, ...any)) (*Watchdog, error) {
	return nil, errUnix
}

func (*Watchdog) PID() int { return 0 }
func (*Watchdog) Dismiss() {}

func RunWatchdog([]string, io.Reader, io.Writer) int { return 64 }

func RunStarter([]string, io.Writer) int { return 64 }
