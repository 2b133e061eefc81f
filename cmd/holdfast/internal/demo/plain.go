package demo

import (
	"fmt"
	"io"
)

// view shows the second half of the demo.
type view interface {
	line(text string) // shows a line of the story
	show(*state)      // shows the state from now on
	end()
}

// plain returns a view that prints only the story. Plain lines cannot show a moving picture.
func plain(out io.Writer) view { return plainView{out} }

type plainView struct{ out io.Writer }

func (v plainView) line(text string) { fmt.Fprintln(v.out, text) }
func (plainView) show(*state)        {}
func (plainView) end()               {}
