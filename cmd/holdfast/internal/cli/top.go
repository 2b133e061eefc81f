package cli

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/top"
)

const topHelp = `top shows the nodes, the jobs, and the locks with their holders and waiters, live on a
terminal. It changes no lock. Problems come first, and old readings have their age. PATTERN selects names as in holdfast list.

Keys: s and S choose the column for the order, r reverses it, / filters by name or
holder, w shows only names with waiters, p pauses, ? shows all keys, q ends top.

Hand-offs are changes of a holder between two readings, so there may have been more.
top asks the nodes once a second, or less often if a reading takes longer than half
a second. It sends each node at most --rate small requests per second.

With --demo it shows a busy set of embedded nodes, and needs no server.`

func (a *app) top() *cobra.Command {
	var w watching
	cmd := &cobra.Command{
		Use:     "top [PATTERN]",
		Short:   "Show locks, waiters and nodes live on the terminal",
		Long:    topHelp,
		Example: "  holdfast top\n  holdfast top 'order/*'\n  holdfast top --demo",
		Args:    w.args("top"),
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !term.IsTerminal(os.Stdin.Fd()) || !term.IsTerminal(os.Stdout.Fd()) {
				return usage(errors.New("top needs a terminal as stdin and stdout"), "holdfast list prints the locks once, with --json for programs")
			}
			return a.watch(cmd, w, args, func(s watched) error {
				ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
				defer stop()
				a.endsBy(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
				return top.Run(ctx, os.Stdin, os.Stdout, s.Sampler)
			})
		},
	}
	cmd.Flags().SortFlags = false
	w.register(cmd.Flags())
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}
