// Command picture renders the output of a command as an SVG picture of a terminal. The lines appear one after the
// other, in the rhythm in which the command printed them.
//
//	go run ./verify/picture -o docs/demo.svg bin/holdfast demo --plain
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	to := flag.String("o", "", "the file to write")
	length := flag.Duration("length", 15*time.Second, "the length of the animation")
	flag.Parse()
	if err := run(*to, *length, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(to string, length time.Duration, command []string) error {
	if to == "" || len(command) == 0 {
		return fmt.Errorf("usage: picture -o FILE COMMAND [ARG…]")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := read(io.TeeReader(out, os.Stdout))
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err) // an old picture stays
	}
	svg := render("$ holdfast "+strings.Join(command[1:], " "), lines, length)
	return os.WriteFile(to, []byte(svg), 0o644)
}
