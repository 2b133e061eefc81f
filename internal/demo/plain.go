package demo

import (
	"fmt"
	"io"
)

// view shows the second half.
type view interface {
	line(text string) // a line of the story
	show(*state)      // what is going on, from now on
	end()
}

// plain prints the story and leaves out the picture, which lines cannot move in.
func plain(out io.Writer) view { return plainView{out} }

type plainView struct{ out io.Writer }

func (v plainView) line(text string) { fmt.Fprintln(v.out, text) }
func (plainView) show(*state)        {}
func (plainView) end()               {}
