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
	wait sync.WaitGroup
}

const longestLine = 64 << 10

// outputs makes whole lines: without it, two jobs that print at the same time could mix their lines.
var outputs sync.Mutex

// pipe returns a file for the command. What the command writes to it goes to the file to. The caller closes the
// returned file when the command has started.
func (l *labelled) pipe(to *os.File) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	l.wait.Go(func() {
		defer r.Close()
		lines := bufio.NewReaderSize(r, longestLine)
		for {
			line, err := lines.ReadSlice('\n')
			if len(line) > 0 {
				whole := append([]byte(printable.Quoted(l.name)+": "), line...)
				if whole[len(whole)-1] != '\n' {
					whole = append(whole, '\n')
				}
				outputs.Lock()
				_, _ = to.Write(whole) // if nobody reads it, the job goes on
				outputs.Unlock()
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
		}
	})
	return w, nil
}

// finish waits until all output is passed on. A process that the command left behind may keep the pipe open, so finish
// waits for a second at most.
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
