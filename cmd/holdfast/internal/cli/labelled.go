package cli

import (
	"bufio"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// labelled passes the output of a command on, with the name of its job before each line. It splits lines of more than
// longestLine bytes.
type labelled struct {
	name string
	end  *tail // gets the output, too; nil: none
	wait sync.WaitGroup
}

const longestLine = 64 << 10

// pipe returns a file for the command. What the command writes to it goes to the outlet. The caller closes the
// returned file when the command has started.
func (l *labelled) pipe(to *outlet) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stored := l.end.stream()
	l.wait.Go(func() {
		defer r.Close()
		lines := bufio.NewReaderSize(r, longestLine)
		for {
			line, err := lines.ReadSlice('\n')
			if len(line) > 0 {
				stored.add(line)
				whole := append([]byte(printable.Quoted(l.name)+": "), line...)
				if whole[len(whole)-1] != '\n' {
					whole = append(whole, '\n')
				}
				to.put(whole)
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
		}
	})
	return w, nil
}

// finish waits until all output is in the outlets. A process that the command left behind may keep the pipe open, so
// finish waits for a second at most. The output of such a process is passed on until the process ends. If finish closed
// the pipe instead, SIGPIPE would end that process, such as a server that the command has restarted.
func (l *labelled) finish() {
	done := make(chan struct{})
	go func() {
		l.wait.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
	}
}
