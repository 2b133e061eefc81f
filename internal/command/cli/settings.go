package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// defaultNode is used without --nodes; a test puts a free port in its place.
var defaultNode = "redis://127.0.0.1:6379"

// settings are the global flags: the node set and how to talk to it. Each is read from
// the environment if its flag is not given.
type settings struct {
	nodes       nodeList
	maxTTL      duration
	window      duration
	nodeTimeout duration
	cluster     string
	durable     bool
	verbose     bool
	quiet       bool
}

// variables are the environment variables that stand in for flags.
var variables = map[string]string{
	"nodes": "HOLDFAST_NODES", "max-ttl": "HOLDFAST_MAX_TTL", "window": "HOLDFAST_WINDOW",
	"cluster": "HOLDFAST_CLUSTER", "durable": "HOLDFAST_DURABLE", "quiet": "HOLDFAST_QUIET",
}

func (s *settings) register(f *pflag.FlagSet) {
	f.Var(&s.nodes, "nodes", "the nodes, separated by commas or each with a flag of its own (HOLDFAST_NODES; default "+defaultNode+")")
	f.Var(&s.maxTTL, "max-ttl", "longest lease on these nodes (HOLDFAST_MAX_TTL; default 10s)")
	f.Var(&s.window, "window", "how far the nodes' clocks may differ (HOLDFAST_WINDOW; default 250ms)")
	f.StringVar(&s.cluster, "cluster", "", "name of the node set, where its URLs differ between clients (HOLDFAST_CLUSTER)")
	f.BoolVar(&s.durable, "durable", false, "the nodes have every write on disk before they answer (HOLDFAST_DURABLE)")
	f.Var(&s.nodeTimeout, "node-timeout", "how long a node may take to answer (default 500ms)")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "log what the library does")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "no notes on stderr, only errors, as for cron; answers on stdout stay (HOLDFAST_QUIET)")
}

// environ fills in what no flag gave.
func (s *settings) environ(f *pflag.FlagSet) error {
	for flag, variable := range variables {
		value, ok := os.LookupEnv(variable)
		// Nodes that name nothing are no default: each machine would lock by itself.
		if !ok || f.Changed(flag) || value == "" && flag != "nodes" {
			continue
		}
		if err := f.Set(flag, value); err != nil {
			// pflag's error is about the flag, which nobody gave.
			return usage(fmt.Errorf("%s is %q: %w", variable, value, cause(err)), keptBack(variable, value))
		}
	}
	return nil
}

// keptBack is the hint of a run inside a run that keeps its nodes to itself.
func keptBack(variable, value string) string {
	if variable != nodesVariable || value != "" || len(outerOwners()) == 0 {
		return ""
	}
	return "this runs under a holdfast run that keeps HOLDFAST_NODES to itself, for the passwords in it:\n" +
		"give that one --pass-nodes"
}

// cause digs a value's own error out of pflag's.
func cause(err error) error {
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		err = bad.Unwrap()
	}
	var number *strconv.NumError
	switch {
	case errors.As(err, &number) && number.Func == "ParseBool":
		return errors.New("want true or false")
	case errors.As(err, &number):
		return errors.New("want a whole number")
	}
	return err
}

// urls are the nodes' or the default.
func (s *settings) urls() []string {
	if len(s.nodes) == 0 {
		return []string{defaultNode}
	}
	return s.nodes
}

// windowOrDefault is that of [holdfast.Config.Window].
func (s *settings) windowOrDefault() time.Duration {
	if s.window.given {
		return s.window.value
	}
	return 250 * time.Millisecond
}

// open makes a client, without touching the network. change may add to its settings.
func (s *settings) open(t *talker, change func(*holdfast.Config)) (*holdfast.Client, error) {
	nodes, err := rueidisnode.Open(s.urls()...)
	if err != nil {
		return nil, usage(fmt.Errorf("--nodes (or HOLDFAST_NODES): %s", strings.TrimPrefix(err.Error(), "rueidisnode: ")),
			"it looks like --nodes redis://10.0.0.1:6379,redis://10.0.0.2:6379,redis://10.0.0.3:6379")
	}
	c := holdfast.Config{
		Nodes: nodes, MaxTTL: s.maxTTL.value, Window: s.window.value, NodeTimeout: s.nodeTimeout.value,
		Cluster: s.cluster, Durable: s.durable, Logger: t.logger(),
	}
	if change != nil {
		change(&c)
	}
	client, err := holdfast.New(c)
	if err != nil {
		for _, n := range nodes {
			n.Close()
		}
		return nil, usage(inFlags(err), "")
	}
	return client, nil
}

// flagsOf are the flags of the fields of [holdfast.Config].
var flagsOf = map[string]string{
	"Nodes": "--nodes", "NodeTimeout": "--node-timeout", "MaxTTL": "--max-ttl", "TTL": "--ttl", "Window": "--window",
	"Cluster": "--cluster",
}

// inFlags returns an error of the library's, which names fields of its Config, with the names of their flags.
func inFlags(err error) error {
	var bad *holdfast.ConfigError
	if !errors.As(err, &bad) {
		return errors.New(trimmed(err))
	}
	return errors.New(bad.Named(func(field string) string { return or(flagsOf[field], field) }))
}
