package cli

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/demo"
)

func (a *app) demo() *cobra.Command {
	var plain bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show that the lock holds while nodes and holders die",
		Long: `demo starts five embedded nodes and eight workers, each as its own process.
Every worker reads a number from one file, adds one, and writes it back. Without
a lock, which comes first, increments get lost. Then the workers use the lock.
During that half, nodes are killed and come back empty, a holder is killed, and
another holder is frozen until its lock has ended. At the end demo prints a
verdict with figures. It takes less than 30 seconds and needs no other program.

The exit code is 1 if a promise was broken.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sig := a.catchSignals()
			ctx, cancel := context.WithCancelCause(cmd.Context())
			defer cancel(nil)
			stop := sig.interrupt(cancel)
			width, _, sizeErr := term.GetSize(os.Stdout.Fd()) // on a terminal without a size, a picture cannot be seen
			live := !plain && sizeErr == nil && width > 0 && os.Getenv("TERM") != "dumb"
			err := demo.Run(ctx, os.Stdout, live)
			if s := stop(); s != nil {
				return s
			}
			switch {
			case errors.Is(err, demo.ErrInterrupted):
				return signalled(syscall.SIGINT)
			case errors.Is(err, demo.ErrBroken):
				return exit(exitBroken)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "print lines, also on a terminal")
	return cmd
}
