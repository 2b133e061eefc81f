//go:build unix

package childprocess

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// execError returns the error for a command that [Find] has found, but that exec refused. The kernel's error seems to
// be about the command's file, even if only its interpreter is missing, or the file has no #! line. So execError finds
// the reason.
func execError(name, path string, err error) error {
	info, gone := os.Stat(path)
	if gone != nil || !info.Mode().IsRegular() {
		return startError(name, err)
	}
	first, head := firstLine(path)
	script, isScript := strings.CutPrefix(first, "#!")
	switch {
	case errors.Is(err, fs.ErrNotExist) && isScript:
		interpreter, _, _ := strings.Cut(strings.TrimLeft(strings.ReplaceAll(script, "\t", " "), " "), " ")
		hint := ""
		if strings.HasSuffix(first, "\r") {
			hint = "; its lines end with CR LF"
		}
		return missingError(fmt.Sprintf("%s: its interpreter %q (the #! line) does not exist%s", name, interpreter, hint))
	case errors.Is(err, fs.ErrNotExist):
		return missingError(name + ": it exists, but not the loader that it needs")
	case errors.Is(err, syscall.ENOEXEC) && !isScript && !bytes.ContainsRune(head, 0):
		return fmt.Errorf("%w: it has no #! line", startError(name, err))
	}
	return startError(name, err)
}

// firstLine returns the first line of a file and the bytes that a kernel reads to recognize the file. If the file
// cannot be read, line is "".
func firstLine(path string) (line string, head []byte) {
	f, err := os.Open(path)
	if err != nil {
		return "", []byte{0}
	}
	defer f.Close()
	head = make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ = strings.Cut(string(head[:n]), "\n")
	return line, head[:n]
}

// missingError says which file is missing. It matches [ErrNotFound], because a shell treats this case so.
type missingError string

func (e missingError) Error() string        { return string(e) }
func (e missingError) Is(target error) bool { return target == ErrNotFound }
