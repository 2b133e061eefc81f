package cli

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func init() { commands["hang"] = hangCommand }

// hangCommand makes a regular file one that does not answer, as on a server that hangs. The lease makes each open of
// the file wait, for /proc/sys/fs/lease-break-time at most, which is 45 s.
func hangCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "hang FILE")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	ts.Defer(func() { _ = f.Close() })
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	ts.Check(err)
}
