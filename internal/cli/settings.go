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
	nodes       string
	maxTTL      duration
	window      duration
	nodeTimeout duration
	cluster     string
	durable     bool
	verbose     bool
}

// variables are the environment variables that stand in for flags.
var variables = map[string]string{
	"nodes": "HOLDFAST_NODES", "max-ttl": "HOLDFAST_MAX_TTL", "window": "HOLDFAST_WINDOW",
	"cluster": "HOLDFAST_CLUSTER", "durable": "HOLDFAST_DURABLE",
}

func (s *settings) register(f *pflag.FlagSet) {
	f.StringVar(&s.nodes, "nodes", "", "`URL`s of the nodes, separated by commas (HOLDFAST_NODES; default "+defaultNode+")")
	f.Var(&s.maxTTL, "max-ttl", "longest lease on these nodes (HOLDFAST_MAX_TTL; default 10s)")
	f.Var(&s.window, "window", "how far the nodes' clocks may differ (HOLDFAST_WINDOW; default 250ms)")
	f.StringVar(&s.cluster, "cluster", "", "`name` of the node set, where its URLs differ between clients (HOLDFAST_CLUSTER)")
	f.BoolVar(&s.durable, "durable", false, "the nodes have every write on disk before they answer (HOLDFAST_DURABLE)")
	f.Var(&s.nodeTimeout, "node-timeout", "how long a node may take to answer (default 500ms)")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "log what the library does")
}

// environ fills in what no flag gave.
func (s *settings) environ(f *pflag.FlagSet) error {
	for flag, variable := range variables {
		value, ok := os.LookupEnv(variable)
		if !ok || value == "" || f.Changed(flag) {
			continue
		}
		if err := f.Set(flag, value); err != nil {
			// pflag's error is about the flag, which nobody gave.
			return usage(fmt.Errorf("%s is %q: %w", variable, value, cause(err)), "")
		}
	}
	return nil
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

// urls splits what --nodes says.
func (s *settings) urls() []string {
	list := strings.FieldsFunc(s.nodes, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
	if len(list) == 0 {
		return []string{defaultNode}
	}
	return list
}

// open makes a client, without touching the network. change may add to its settings.
func (s *settings) open(t *talker, change func(*holdfast.Config)) (*holdfast.Client, error) {
	nodes, err := rueidisnode.Open(s.urls()...)
	if err != nil {
		return nil, usage(fmt.Errorf("--nodes (or HOLDFAST_NODES): %w", err),
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

// inFlags puts the library's words about its Config into those of the command line.
func inFlags(err error) error {
	return errors.New(strings.NewReplacer(
		"holdfast: ", "", "Config.", "",
		"Nodes[", "--nodes[", "NodeTimeout", "--node-timeout", "Nodes", "--nodes",
		"MaxTTL", "--max-ttl", "TTL", "--ttl", "Window", "--window", "Cluster is", "--cluster is",
	).Replace(err.Error()))
}

// duration is a flag that says what it wants.
type duration struct {
	value time.Duration
	zero  bool // zero is a value
	given bool
}

func (d *duration) String() string {
	if !d.given {
		return ""
	}
	return d.value.String()
}

func (*duration) Type() string { return "duration" }

func (d *duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil && text == "0":
	case err != nil:
		return errors.New("want a duration such as 500ms, 10s or 5m")
	case v < 0:
		return errors.New("want a duration of at least 0s")
	case v == 0 && !d.zero:
		return errors.New("want a duration of more than 0s")
	}
	d.value, d.given = v, true
	return nil
}
