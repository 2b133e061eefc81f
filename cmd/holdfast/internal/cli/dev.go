package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
)

func (a *app) dev() *cobra.Command {
	n, port := 5, 7001
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run embedded nodes for development",
		Long: `dev runs nodes inside the holdfast process, on loopback ports, until it is
interrupted. It needs no other program. The nodes keep their data only in
memory. They are for trying things out: they are several times slower than Redis.

It prints the line that makes other commands use the nodes:

  export HOLDFAST_NODES=redis://127.0.0.1:7001,…

dev trusts its nodes when they start, so they vote at their first request. A new
Redis server does not vote for about 10 s. After a restart of dev on the same ports
the nodes know nothing of earlier locks, and vote nevertheless. So do not restart
dev while a program relies on such a lock.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case n < 1 || n > 31:
				return usage(fmt.Errorf("%s is %d; it must be from 1 to 31", a.typed("-n", "--count"), n), "")
			case port < 0 || port > 65535 || port > 0 && port+n-1 > 65535:
				return usage(fmt.Errorf("--port is %d; for %d nodes it must be from 1 to %d, or 0 for free ports", port, n, 65536-n), "")
			}
			ended := make(chan os.Signal, 1)
			notify(ended, []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP})
			a.endsBy(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			var urls []string
			for i := range n {
				p := port
				if port > 0 {
					p += i
				}
				node, err := embedded.Start(net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
				if err != nil {
					return notListening(p, err)
				}
				defer node.Close()
				urls = append(urls, node.URL())
			}
			fmt.Fprintln(cmd.OutOrStdout(), "export HOLDFAST_NODES="+strings.Join(urls, ","))
			if n == 1 {
				a.say("1 node runs; Ctrl-C ends it")
			} else {
				a.say("%d nodes run; Ctrl-C ends them", n)
			}
			<-ended
			return nil
		},
	}
	cmd.Flags().IntVarP(&n, "count", "n", n, "how many nodes")
	cmd.Flags().IntVar(&port, "port", port, "port of the first; the others follow. 0: any that are free")
	return cmd
}

// typed returns the form of a flag that the user typed: long, or otherwise short.
func (a *app) typed(short, long string) string {
	if slices.ContainsFunc(a.args, func(arg string) bool { return arg == long || strings.HasPrefix(arg, long+"=") }) {
		return long
	}
	return short
}

func notListening(port int, err error) error {
	f := &failure{code: exitBroken, err: err}
	if errors.Is(err, embedded.ErrPortTaken) {
		f.err = fmt.Errorf("port %d is in use", port)
		f.hint = "choose others with --port, or any free ones with --port 0"
	}
	return f
}
