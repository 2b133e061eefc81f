package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/busy"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/metrics/promholdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// watching has the flags of the commands that watch the node set: ui and top.
type watching struct {
	rate   int
	demo   bool
	listen listenAt // only of ui
}

func (w *watching) register(f *pflag.FlagSet) {
	f.IntVar(&w.rate, "rate", 0, "most requests per second to each node (default 500)")
	f.BoolVar(&w.demo, "demo", false, "show a busy set of embedded nodes instead of yours")
}

func (*watching) args(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usage(fmt.Errorf("%s needs one pattern or none, but was given %d", name, len(args)), "quote the pattern: holdfast "+name+" 'order/*'")
		}
		return nil
	}
}

// watched is a node set that is watched.
type watched struct {
	*sample.Sampler
	client *holdfast.Client
}

// watch calls f with readings of the node set.
func (a *app) watch(cmd *cobra.Command, w watching, args []string, f func(watched) error) error {
	o := admin.ListOptions{Rate: w.rate}
	if len(args) == 1 {
		o.Pattern = args[0]
	}
	if cmd.Flags().Changed("rate") && w.rate == 0 { // the library takes its default for 0
		return usage(errors.New("--rate is 0 requests per second; it must be at least 10"), "")
	}
	if w.demo {
		if a.settings.given[nodesVariable] != "" { // HOLDFAST_NODES may be set for other commands
			return usage(errors.New("--demo starts its own nodes, so --nodes has no meaning"), "leave one of them out")
		}
		set, err := busy.Start()
		if err != nil {
			return &failure{code: exitInternal, err: err}
		}
		defer set.Close()
		a.settings = settings{nodes: set.URLs(), nodeTimeout: a.settings.nodeTimeout}
	}
	end, err := a.endpoint(w.listen, promholdfast.Options{AllJobs: true}, "")
	if err != nil {
		return err
	}
	defer end.close()
	return a.withObserved(end, func(client *holdfast.Client) error {
		if err := checkOptions(client, o); err != nil {
			return usage(inFlags(err), "")
		}
		nodes, err := rueidisnode.Open(a.settings.urls()...)
		if err != nil {
			return err
		}
		defer closeAll(nodes)
		s := &sample.Sampler{Every: time.Second, Idle: 15 * time.Second}
		r := &sample.Reader{Client: client, Nodes: nodes, Options: o, Cluster: a.settings.cluster, Early: s.Early}
		s.Read = r.Read
		if err := end.serve(client, sampled(s), waits(client, s)); err != nil {
			return err
		}
		err = f(watched{s, client})
		end.close() // the last scrape leaves the sampler
		s.Wait()
		r.Close()
		return err
	})
}

// checkOptions returns an error if the options are bad. It asks no node for a name.
func checkOptions(client *holdfast.Client, o admin.ListOptions) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	var bad *holdfast.ConfigError
	for _, err := range admin.List(ended, client, o) {
		if errors.As(err, &bad) {
			return err
		}
	}
	return nil
}
