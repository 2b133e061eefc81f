package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node"
)

// defaultNode is the node that a command uses without --nodes. Tests set it to a node on a free port.
var defaultNode = "redis://127.0.0.1:6379"

// defaultNodeTimeout is the node timeout that a command uses without --node-timeout. 0 means the default of the
// library. Tests set a longer one.
var defaultNodeTimeout time.Duration

// settings contains the values of the global flags, which describe the node set. A flag that is not given gets the
// value of its environment variable, if it has one.
type settings struct {
	nodes       nodeList
	nodesFile   string
	lines       []int        // the line of each URL in nodesFile
	rotates     bool         // the nodes read nodesFile again
	shards      node.Cluster // the Redis Cluster of the last client; nil: there is none
	cacert      string
	cert, key   string
	maxTTL      duration
	window      duration
	nodeTimeout duration
	cluster     string
	label       string
	durable     bool
	verbose     bool
	quiet       bool
	given       map[string]string // the flags on the command line that commands inside inherit, by their variables
}

// variables contains the environment variable of each flag that has one.
var variables = map[string]string{
	"nodes": nodesVariable, "nodes-file": nodesFileVariable, "max-ttl": "HOLDFAST_MAX_TTL", "window": "HOLDFAST_WINDOW",
	"cluster": "HOLDFAST_CLUSTER", "label": "HOLDFAST_LABEL", "durable": "HOLDFAST_DURABLE", "quiet": "HOLDFAST_QUIET",
	"cacert": "HOLDFAST_CACERT", "cert": "HOLDFAST_CERT", "key": "HOLDFAST_KEY",
}

// files contains the flags that name files of certificates.
func (s *settings) files() map[string]*string {
	return map[string]*string{"cacert": &s.cacert, "cert": &s.cert, "key": &s.key}
}

func (s *settings) register(f *pflag.FlagSet) {
	f.Var(&s.nodes, "nodes", "URLs of the nodes, separated by commas, or one flag per node (HOLDFAST_NODES; default "+defaultNode+")")
	f.StringVar(&s.nodesFile, "nodes-file", "", "a file with the URLs, one per line, for example because they have passwords (HOLDFAST_NODES_FILE)")
	f.StringVar(&s.cacert, "cacert", "", "a file in PEM with the authorities of servers, for rediss:// (HOLDFAST_CACERT; default: those of the system)")
	f.StringVar(&s.cert, "cert", "", "a file in PEM with this client's certificate, for rediss:// (HOLDFAST_CERT)")
	f.StringVar(&s.key, "key", "", "a file in PEM with the key of --cert (HOLDFAST_KEY)")
	f.Var(&s.maxTTL, "max-ttl", "longest TTL on these nodes (HOLDFAST_MAX_TTL; default 10s)")
	f.Var(&s.window, "window", "how far the nodes' clocks may differ (HOLDFAST_WINDOW; default 250ms)")
	f.StringVar(&s.cluster, "cluster", "", "name of the node set, needed if clients use different URLs (HOLDFAST_CLUSTER)")
	f.StringVar(&s.label, "label", "", "the name under which others see this holder (HOLDFAST_LABEL; default: host name/process id)")
	f.BoolVar(&s.durable, "durable", false, "the nodes have every write on disk before they answer (HOLDFAST_DURABLE)")
	f.Var(&s.nodeTimeout, "node-timeout", "time limit for the answer of a node (default 500ms)")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "log what the library does")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "print only errors on stderr, for example for cron; stdout does not change (HOLDFAST_QUIET)")
}

// environ sets each flag that was not given to the value of its environment variable. It also reads the file of nodes.
func (s *settings) environ(f *pflag.FlagSet) error {
	if f.Changed("nodes") && f.Changed("nodes-file") {
		return usage(errors.New("--nodes and --nodes-file both name the nodes; give one of them"), "")
	}
	named := f.Changed("nodes") || f.Changed("nodes-file")
	if !named && os.Getenv(nodesVariable) != "" && os.Getenv(nodesFileVariable) != "" {
		return usage(errors.New(nodesVariable+" and "+nodesFileVariable+" both name the nodes; unset one of them"), "")
	}
	if err := s.noteGiven(f); err != nil {
		return err
	}
	for flag, variable := range variables {
		value, ok := os.LookupEnv(variable)
		ofNodes := flag == "nodes" || flag == "nodes-file"
		if !ok || f.Changed(flag) || ofNodes && named {
			continue
		}
		// An empty HOLDFAST_NODES is an error. With the default node, each machine would use a server of its own, and
		// their locks would not exclude each other.
		if value == "" && (flag != "nodes" || os.Getenv(nodesFileVariable) != "") {
			continue
		}
		if err := f.Set(flag, value); err != nil {
			// pflag's own error would name the flag, although the value came from the variable.
			return usage(fmt.Errorf("%s is %q: %w", variable, value, cause(err)), keptBack(variable, value))
		}
	}
	if s.nodesFile == "" {
		if f.Changed("nodes-file") {
			return usage(errors.New("--nodes-file is empty; name a file with the URLs of the nodes"), "")
		}
	} else if err := s.readNodes(); err != nil {
		return err
	}
	if wrong := misspelt(); wrong != "" && len(s.nodes) == 0 {
		return usage(fmt.Errorf("%s is no variable of holdfast; did you mean %s?", wrong, nodesVariable),
			"without nodes holdfast would ask "+defaultNode+", and exclude nobody on other machines; to do that, unset "+wrong)
	}
	for _, flag := range []string{"cacert", "cert", "key"} {
		if s.given[variables[flag]] != "" && !slices.ContainsFunc(s.urls(), overTLS) {
			return usage(fmt.Errorf("--%s is for servers with TLS, and no URL begins with rediss://", flag), "")
		}
	}
	return nil
}

// misspelt returns a variable of the environment whose name is nearly that of the nodes, "" if there is none.
func misspelt() string {
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if strings.Contains(value, "://") && strings.HasPrefix(name, "HOLDFAST_") && name != nodesVariable && typos(name, nodesVariable) <= 2 {
			return name
		}
	}
	return ""
}

// noteGiven sets s.given. An empty variable of the nodes is not an error if the other one has a value.
func (s *settings) noteGiven(f *pflag.FlagSet) (err error) {
	s.given = map[string]string{}
	for flag, variable := range variables {
		if f.Changed(flag) && flag != "quiet" {
			s.given[variable] = f.Lookup(flag).Value.String()
		}
	}
	switch {
	case f.Changed("nodes"):
		s.given[nodesFileVariable] = ""
	case f.Changed("nodes-file") && s.nodesFile != "":
		s.given[nodesVariable] = ""
		s.given[nodesFileVariable], err = filepath.Abs(s.nodesFile) // a command may change its directory
	}
	for flag, file := range s.files() {
		if f.Changed(flag) && *file != "" && err == nil {
			s.given[variables[flag]], err = filepath.Abs(*file)
		}
	}
	return err
}

// keptBack returns the hint for the case that an outer run has emptied HOLDFAST_NODES, otherwise "".
func keptBack(variable, value string) string {
	if variable != nodesVariable || value != "" || len(outerOwners()) == 0 {
		return ""
	}
	return "an outer holdfast run keeps HOLDFAST_NODES to itself, because of the passwords in it:\n" +
		"give that run --pass-nodes"
}

// cause returns the error about a flag's value, without the text that pflag adds.
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

// urls returns the URLs of the nodes, or the default. They name the files of certificates.
func (s *settings) urls() []string {
	if len(s.nodes) == 0 {
		return []string{defaultNode}
	}
	all := slices.Clone(s.nodes)
	for i, address := range all {
		if !overTLS(address) {
			continue
		}
		for flag, file := range s.files() {
			if *file != "" && !strings.Contains(address, "?"+flag+"=") && !strings.Contains(address, "&"+flag+"=") {
				sign := "?"
				if strings.Contains(all[i], "?") {
					sign = "&"
				}
				all[i] += sign + flag + "=" + strings.ReplaceAll(url.QueryEscape(*file), "+", "%20") // a + stands for itself: see rueidisnode
			}
		}
	}
	return all
}

// userOnly reports whether a URL has a user without a password. Somebody may have forgotten the colon before a
// password.
func (s *settings) userOnly() bool {
	return slices.ContainsFunc(s.urls(), func(address string) bool {
		_, rest, _ := strings.Cut(address, "://")
		user, _, found := strings.Cut(rest, "@")
		return found && user != "" && !strings.Contains(user, ":")
	})
}

// windowOrDefault returns the window, or the default of [holdfast.Config.Window].
func (s *settings) windowOrDefault() time.Duration {
	if s.window.given {
		return s.window.value
	}
	return 250 * time.Millisecond
}

// open makes a client, without using the network. If change is not nil, it may change the client's configuration.
func (s *settings) open(t *talker, change func(*holdfast.Config)) (*holdfast.Client, error) {
	nodes, err := s.openNodes()
	if err != nil {
		return nil, s.badURL(err)
	}
	s.shards, _ = nodes[0].(node.Cluster)
	c := holdfast.Config{
		Nodes: nodes, MaxTTL: s.maxTTL.value, Window: s.window.value, NodeTimeout: cmp.Or(s.nodeTimeout.value, defaultNodeTimeout),
		Cluster: s.cluster, Label: s.label, Durable: s.durable, Logger: t.logger(),
	}
	if change != nil {
		change(&c)
	}
	client, err := holdfast.New(c)
	if err != nil {
		for _, n := range nodes {
			n.Close()
		}
		return nil, usage(inFlags(err), ttlHint(err))
	}
	return client, nil
}

// flagsOf contains the flag for each field of [holdfast.Config] that has one.
var flagsOf = map[string]string{
	"Nodes": "--nodes", "NodeTimeout": "--node-timeout", "MaxTTL": "--max-ttl", "TTL": "--ttl", "Window": "--window",
	"Cluster": "--cluster", "Durable": "--durable", "Label": "--label", "Rate": "--rate", "OlderThan": "--older-than", "Kind": "--kind", "Pattern": "PATTERN",
}

// ttlHint returns a hint for a TTL that the library refuses, otherwise "".
func ttlHint(err error) string {
	if !errors.Is(err, holdfast.ErrBadTTL) {
		return ""
	}
	return "holdfast renews the lock while it is in use, so long work needs no long --ttl"
}

// inFlags replaces the names of fields in an error of the library by the names of flags.
func inFlags(err error) error {
	var bad *holdfast.ConfigError
	if !errors.As(err, &bad) {
		return errors.New(trimmed(err))
	}
	return errors.New(bad.Named(func(field string) string { return or(flagsOf[field], field) }))
}
