package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/demo"
)

// app is one run of the holdfast command.
type app struct {
	args     []string
	settings settings
	signals  signals // the channels are nil until the command begins to handle signals
	*talker
}

// Main runs the whole program and returns its exit code.
func Main() int {
	if code, ran := childprocess.AsInit(); ran {
		return code
	}
	if len(os.Args) > 2 && os.Args[1] == childprocess.WatchdogArg {
		return childprocess.RunWatchdog(os.Args[2:], os.Stdin, os.Stderr)
	}
	if len(os.Args) > 2 && os.Args[1] == childprocess.StarterArg {
		return childprocess.RunStarter(os.Args[2:], os.Stderr)
	}
	if len(os.Args) > 2 && os.Args[1] == demo.NodeArg {
		return demo.RunNode(os.Args[2:])
	}
	if len(os.Args) > 2 && os.Args[1] == demo.WorkerArg {
		return demo.RunWorker(os.Args[2:])
	}
	a := &app{args: os.Args[1:], talker: newTalker(os.Stderr)}
	root := a.root()
	root.SetArgs(a.args)
	code := exitOK
	if err := root.ExecuteContext(context.Background()); err != nil {
		f := asFailure(err)
		a.fail(f)
		code = f.code
	}
	a.finish(code, a.signals.came)
	return code
}

const rootHelp = `holdfast runs commands under a distributed lock on Redis or Valkey: one node, an odd
number of independent ones with a majority rule, or a Redis Cluster.

  holdfast run nightly-report -- ./report.sh

--nodes or HOLDFAST_NODES names the nodes, as URLs. --nodes-file names a file that
has one URL per line:

  redis://[user:password@]host[:port][/db]     rediss:// is the same over TLS
  unix:///path/to/socket[?db=0]
  redis+sentinel://host,host,host/master       the master that Sentinels name
  redis+cluster://host,host,host               some servers of a Redis Cluster

Other users of the machine can read the value of --nodes, so put passwords into
HOLDFAST_NODES or into a file. Nodes, --max-ttl, --window, --durable and --cluster
must be the same for all clients of a node set. The nodes refuse a client with other
values.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "holdfast",
		Short: "Run commands under a distributed lock on Redis",
		Long:  rootHelp,
		// Main prints an error once. Cobra would print it again, with a page of flags.
		SilenceErrors: true, SilenceUsage: true,
		Version: version(),
		Args:    unknown,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("holdfast {{.Version}}\n")
	root.PersistentFlags().SortFlags = false
	a.settings.register(root.PersistentFlags())
	root.SetFlagErrorFunc(a.flagError)
	root.SetHelpCommand(help())
	root.AddCommand(a.run(), a.holding(), a.cron(), a.jobs(), a.lead(), a.leader(), a.status(), a.list(), a.unlocking(), a.nodes(), a.doctor(), a.acl(), a.ui(), a.top(), a.bench(), a.dev(), a.demo())
	root.AddCommand(&cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesHelp})
	root.AddCommand(a.man(), a.versioning())
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		// For an unknown shell, cobra itself would print the help and exit with 0.
		c.Args, c.RunE = unknown, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		c.Short = "Print the completion for a shell"
		c.Long = "completion prints a script for a shell. With it the shell completes the commands and\n" +
			"flags of holdfast. The help of each shell says where to put the script."
		for _, shell := range c.Commands() {
			shell.Short = "Print the completion for " + shell.Name()
		}
	}
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version"
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.PreRunE == nil {
			refuse(root.PersistentFlags(), c.PersistentFlags())
		}
	}
	return root
}

// configure is the PreRunE of the commands that use nodes. All other commands ignore the environment, so that a wrong
// variable does not break help and completion.
func (a *app) configure(cmd *cobra.Command, _ []string) error {
	if err := a.settings.environ(cmd.Root().PersistentFlags()); err != nil {
		return err
	}
	a.verbose = a.settings.verbose
	a.quiet = a.settings.quiet && !a.verbose
	if a.settings.exposed() {
		a.note("everybody on this machine can read %s, which has passwords; chmod 600 it", a.settings.nodesFile)
	}
	return nil
}

// help is cobra's help command, except that an unknown topic has another exit code.
func help() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Explain a command",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) (topics []string, _ cobra.ShellCompDirective) {
			for _, c := range cmd.Root().Commands() {
				if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
					topics = append(topics, c.Name())
				}
			}
			return topics, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknown(topic, rest)
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

func unknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "holdfast help lists the commands"
	if cmd.HasParent() && cmd.HasSubCommands() {
		hint = strings.Replace(cmd.CommandPath(), "holdfast", "holdfast help", 1) + " explains it"
	}
	if slices.Contains([]string{"lock", "acquire", "with", "exec"}, args[0]) && !cmd.HasParent() {
		return usage(errors.New("there is no command "+quoted(args[0])), "did you mean "+runForm+", or holdfast hold NAME?")
	}
	cmd.SuggestionsMinimumDistance = 2
	if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + nearest(args[0], s) + "?"
	}
	return usage(errors.New("there is no command "+quoted(strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "holdfast "))), hint)
}

// nearest returns the word that a user probably meant by another one: the one with the fewest typing errors, or one
// that begins in the same way.
func nearest(given string, words []string) string {
	distance := func(word string) int {
		if strings.HasPrefix(word, given) {
			return 1
		}
		return typos(given, word)
	}
	return slices.MinFunc(words, func(a, b string) int { return distance(a) - distance(b) })
}

// flagError returns the error for a flag that pflag does not accept.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	var none *pflag.NotExistError
	if errors.As(err, &none) {
		var hints []string
		if near := nearestFlag(cmd.Flags(), none); near != "" {
			hints = []string{"did you mean --" + near + "?"}
		}
		if (cmd.Name() == "run" || cmd.Name() == "lead") && !cmd.Parent().HasParent() && !slices.Contains(a.args, "--") {
			// The user probably forgot the -- before a command with flags: holdfast run nightly ls -l
			if len(hints) == 0 {
				err = errNoDashes
			}
			hints = append(hints, "write "+strings.Replace(runForm, " run ", " "+cmd.Name()+" ", 1)+": the arguments after the -- belong to the command")
		}
		if len(hints) > 0 {
			return usage(err, strings.Join(hints, "\n"))
		}
	}
	var bad *pflag.InvalidValueError
	switch {
	case !errors.As(err, &bad):
		return usage(err, cmd.CommandPath()+" --help lists the flags")
	case errors.Is(err, errNoMeaning):
		return usage(fmt.Errorf("%s talks to none of your nodes: --%s %w", cmd.CommandPath(), bad.GetFlag().Name, errNoMeaning), "")
	}
	return usage(errors.New("--"+bad.GetFlag().Name+" is "+quoted(bad.GetValue())+": "+cause(err).Error()), "")
}

// none is the Args function of a command without arguments.
func none(cmd *cobra.Command, args []string) error {
	if cmd.HasSubCommands() {
		return unknown(cmd, args)
	}
	if len(args) > 0 {
		return usage(errors.New(cmd.CommandPath()+" takes no arguments, but was given "+quoted(args[0])), "")
	}
	return nil
}

// one returns the Args function of a command with one argument. what is a word for the argument, such as "name".
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage(fmt.Errorf("%s needs one %s, but was given %d", cmd.Name(), what, len(args)), "the form is "+cmd.Parent().CommandPath()+" "+cmd.Use)
		}
		return nil
	}
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }
