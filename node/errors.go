package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// ErrClosed is the error of a call on a node that was closed.
var ErrClosed = errors.New("node is closed")

// Codes of the server errors that Holdfast distinguishes. A driver must find the code at any place in the server's
// message.
const (
	NoScript   = "NOSCRIPT"   // the server does not know this script: it restarted, or somebody called SCRIPT FLUSH
	ReadOnly   = "READONLY"   // the server is a replica
	Loading    = "LOADING"    // the server is still reading its data from disk
	OOM        = "OOM"        // the memory limit, maxmemory, is reached
	MisConf    = "MISCONF"    // the server refuses writes, because a snapshot or a write to its AOF failed
	NoReplicas = "NOREPLICAS" // the server refuses writes, because it has fewer replicas than min-replicas-to-write
	NoPerm     = "NOPERM"     // an ACL forbids a command or a key
	NoAuth     = "NOAUTH"     // the client gave no password
	WrongPass  = "WRONGPASS"  // the password is wrong
	WrongType  = "WRONGTYPE"  // a key of Holdfast has another type
	Busy       = "BUSY"       // a script of somebody else has been running for too long
	MasterDown = "MASTERDOWN" // the server is a replica and does not reach its master
	ExecAbort  = "EXECABORT"  // a part of a transaction was refused
	NoInfo     = "NOINFO"     // the server knows no INFO: see ErrNoInfo
	Generic    = "ERR"        // any other error
)

// Error is an error reply of the server: the call reached the server, and the server refused the call.
type Error struct {
	Code    string // one of the constants, or another first word of the server's message
	Message string // the whole message of the server
}

// Error returns the message for people, in one line. Characters that could control a terminal are escaped.
func (e *Error) Error() string { return printable.Text(e.Message) }

// ErrNoInfo is the error of a server without INFO. Redis has no code for it.
var ErrNoInfo = &Error{Code: NoInfo, Message: "NOINFO it knows no INFO, which a node needs: the service has renamed or disabled it; use another service or plan"}

// Is returns true if target is an *Error with the same Code and no Message. So errors.Is(err, &Error{Code: NoScript})
// finds every error with this code. If target has a Message, the messages must be equal, too.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && (t.Message == "" || t.Message == e.Message)
}

// nested lists the codes that ServerError looks for inside a message. Redis before version 7 reports the error of a
// command in a script in this form: "ERR Error running script (…): -OOM command…".
var nested = []string{NoScript, ReadOnly, Loading, OOM, MisConf, NoReplicas, NoPerm, WrongType, Busy, MasterDown, NoAuth, WrongPass}

// ServerError makes an *[Error] from the text of an error reply. The text may begin with the "-" of the protocol.
func ServerError(message string) *Error {
	message = strings.TrimPrefix(message, "-")
	if strings.TrimSpace(message) == "" {
		message = "ERR (the server gave no reason)"
	}
	code, _, _ := strings.Cut(message, " ")
	if code == "" || strings.ToUpper(code) != code {
		code = Generic
	}
	if code == Generic || code == ExecAbort {
		for _, c := range nested {
			if strings.Contains(message, "-"+c+" ") || strings.Contains(message, " "+c+" ") {
				code = c
				break
			}
		}
		// The script found that a key of its hash slot has left for another shard, while the slot is being moved.
		if code == Generic && strings.Contains(message, "non local key in a cluster node") {
			code = TryAgain
		}
		// Before Redis 7.2, an ACL refusal inside a script has only the code ERR.
		if code == Generic && (strings.Contains(message, "ACL failure") || strings.Contains(message, "No permissions") ||
			strings.Contains(message, "The user executing the script can't")) {
			code = NoPerm
		}
	}
	return &Error{Code: code, Message: message}
}

// Code returns the code of the server error in err, or "" if err contains no server error.
func Code(err error) string {
	if err == nil {
		return "" // Code is called after every call, and errors.As would allocate memory
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// unsent marks the error of a call that certainly did not reach the server.
type unsent struct{ err error }

func (u *unsent) Error() string { return u.err.Error() }
func (u *unsent) Unwrap() error { return u.err }

// NotSent marks err: the call certainly did not reach the server. Its caller then knows that there is nothing to undo
// on the server.
func NotSent(err error) error {
	if err == nil {
		return nil
	}
	return &unsent{err}
}

// Unsent reports whether the call that failed with err was certainly not executed. There are four cases: [NotSent]
// marked the error, the connection was refused, the node was closed before the call, or the server answered with an
// error.
func Unsent(err error) bool {
	var u *unsent
	var e *Error
	return errors.As(err, &u) || errors.As(err, &e) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, ErrClosed)
}

// ErrLate is in the error of a call that was not sent because its time was over before this process could write it. It
// says nothing about the server: other goroutines kept the processors busy. It is a [context.DeadlineExceeded] and
// [Unsent].
var ErrLate = NotSent(fmt.Errorf("this process was too busy to send the request in time: %w", context.DeadlineExceeded))

// Late reports whether err is [ErrLate].
func Late(err error) bool { return errors.Is(err, ErrLate) }

// ErrElsewhere is in the error of a connection that leads to another server than a later one: the node's address has
// moved, or leads to several servers. It is [Unsent].
var ErrElsewhere = NotSent(errors.New("the address leads to another server now"))

// Timeout reports whether err means that no answer came in time.
func Timeout(err error) bool {
	var t net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &t) && t.Timeout())
}

// Refused reports whether err means that nothing listens at the node's address.
func Refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// Disconnected reports whether err means that the connection was lost.
func Disconnected(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Reason says in a few words for people why a call failed: "connection refused", "timed out", "connection lost", or the
// server's own text. For NOAUTH it says what to do.
func Reason(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e) && e.Code == NoAuth: // the server's own text has 200 characters about HELLO
		return "NOAUTH: it wants a password: put it into the URL, redis://:PASSWORD@host"
	case errors.As(err, &e) && e.Code == NoPerm && !strings.HasPrefix(e.Message, NoPerm): // its text names no command and no key
		return "NOPERM: the user may not use a command or a key that a script of Holdfast needs"
	case errors.As(err, &e):
		return e.Error()
	case Refused(err):
		return "connection refused"
	case Late(err):
		return "not asked in time: this process was too busy"
	case Timeout(err):
		return "timed out"
	case Disconnected(err):
		return "connection lost"
	}
	return printable.Text(fmt.Sprint(err))
}
