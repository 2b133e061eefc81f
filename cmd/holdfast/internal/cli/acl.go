package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/internal/core/rights"
)

// aclFlags are the flags of acl.
type aclFlags struct {
	roles    roleList
	user     string
	prefixes nameList
	password string // the path of a file
	form     aclForm
	wait     bool
	sharded  bool
}

func (a *app) acl() *cobra.Command {
	f := aclFlags{roles: roleList(rights.Locker)}
	cmd := &cobra.Command{
		Use:   "acl",
		Short: "Print the rights that a user of the servers needs",
		Long: `acl prints the rule of a user of Redis or Valkey that has the rights of a role, and
no others: as a line for redis-cli, and as a line of an ACL file. It asks no node.

  locker      run, cron, lead, status, bench, jobs --reset, jobs run, pause, resume
              and remove, and programs that take locks
  observer    status, list, leader and jobs: it changes nothing
  operator    unlock, doctor, nodes, ui, top, and all of an observer
  admission   nodes and nodes trust: only the keys of the nodes themselves

--role takes several roles, separated by commas. With --key-prefix the user has rights
only to names with this prefix; such a user cannot list all names. Give --durable if
your clients do, and --wait if the URLs of your nodes have wait=1 or more: a locker
then needs one more right each. Give --redis-cluster for a Redis Cluster: each user
then needs +cluster|nodes. Every server of the cluster needs the rule, also replicas.

The rule leaves the password of the user as it is, unless --password-file names a file
whose first line is the password. The rule then has its SHA-256 digest. A user without
a password cannot log in.

  holdfast acl --form setuser --password-file pw | redis-cli -h 10.0.0.1

Anybody who may lock one name can break all locks of the node set, because its clients
write the keys of the nodes: docs/guide/rights.md.`,
		Args:    none,
		PreRunE: a.configure,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.printACL(cmd.OutOrStdout(), f) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&f.roles, "role", "locker, observer, operator or admission, or several of them (default locker)")
	cmd.Flags().StringVar(&f.user, "user", "holdfast", "the name of the user")
	cmd.Flags().Var(&f.prefixes, "key-prefix", "only names with this prefix; more flags add prefixes")
	cmd.Flags().StringVar(&f.password, "password-file", "", "a file whose first line is the password of the user")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "the URLs have wait=N: a locker waits for replicas, by WAIT")
	cmd.Flags().BoolVar(&f.sharded, "redis-cluster", false, "the nodes are a Redis Cluster: a user asks for its servers, by CLUSTER NODES")
	cmd.Flags().Var(&f.form, "form", "print one line only: setuser or aclfile")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(cobraWords(rights.Roles), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("form", cobra.FixedCompletions([]cobra.Completion{formSetUser, formACLFile}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("user", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("key-prefix", cobra.NoFileCompletions)
	return cmd
}

func cobraWords(list []string) (out []cobra.Completion) { return append(out, list...) }

// printACL prints the rule in the forms that are asked for.
func (a *app) printACL(out io.Writer, f aclFlags) error {
	u := rights.User{Name: f.user, Roles: rights.Role(f.roles), Prefixes: f.prefixes, Durable: a.settings.durable, Confirmed: f.wait, Sharded: f.sharded}
	if err := u.Check(); err != nil {
		return usage(err, "")
	}
	if f.password != "" {
		text, err := os.ReadFile(f.password)
		if err != nil {
			return usage(fmt.Errorf("--password-file: %w", err), "")
		}
		u.Password, _, _ = strings.Cut(string(text), "\n")
		if u.Password = strings.TrimSuffix(u.Password, "\r"); u.Password == "" {
			return usage(fmt.Errorf("--password-file: the first line of %s is empty; write the password there", f.password), "")
		}
	}
	words := u.SetUser()
	for i, w := range words {
		words[i] = redisWord(w)
	}
	setUser := "ACL SETUSER " + strings.Join(words, " ")
	text := "# For redis-cli, on each server; then ACL SAVE or CONFIG REWRITE:\n" + setUser +
		"\n\n# For the file that aclfile names, on each server; then ACL LOAD:\n" + u.Line()
	switch f.form {
	case formSetUser:
		text = setUser
	case formACLFile:
		text = u.Line()
	}
	_, err := fmt.Fprintln(out, text)
	return printed(err)
}

// redisWord returns a word as redis-cli reads it from a line of its input.
func redisWord(w string) string {
	if !strings.ContainsAny(w, `"'\`) {
		return w
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
}

// roleList is a flag with roles.
type roleList rights.Role

func (l *roleList) String() string { return "" }

func (*roleList) Type() string { return "roles" }

func (l *roleList) Set(text string) error {
	r, err := rights.ParseRoles(text)
	*l = roleList(r)
	return err
}

const (
	formSetUser = "setuser"
	formACLFile = "aclfile"
)

// aclForm is a flag with the form of a rule, "" for all forms.
type aclForm string

func (f *aclForm) String() string { return string(*f) }

func (*aclForm) Type() string { return "form" }

func (f *aclForm) Set(text string) error {
	if text != formSetUser && text != formACLFile {
		return errors.New("want " + formSetUser + " or " + formACLFile)
	}
	*f = aclForm(text)
	return nil
}
