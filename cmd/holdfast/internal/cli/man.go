package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) man() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write the manual pages into a directory",
		Long: `man writes a manual page for each command into DIRECTORY, and makes it if necessary. Read
one with man -l DIRECTORY/holdfast-run.1.`,
		Args: one("directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return usage(err, "")
			}
			for name, page := range manPages(cmd.Root()) {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(page), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// manPages returns the pages of all commands that help lists, by the names of their files.
func manPages(root *cobra.Command) map[string]string {
	pages := map[string]string{}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		pages[manName(cmd)+".1"] = manPage(cmd)
		for _, c := range manCommands(cmd) {
			add(c)
		}
	}
	add(root)
	return pages
}

// manCommands returns the commands below cmd that have a page.
func manCommands(cmd *cobra.Command) (list []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			list = append(list, c)
		}
	}
	return list
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the page of a command in the macros of man(7).
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	release, _, _ := strings.Cut(version(), " ")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"holdfast %s\" \"Holdfast\"\n.nh\n.ad l\n", strings.ToUpper(roff(manName(cmd))), roff(release))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	cmd.InitDefaultHelpFlag()
	if cmd.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", roff(cmd.UseLine()))
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", manText(or(cmd.Long, cmd.Short)))
	manFlags(&b, "OPTIONS", cmd.LocalNonPersistentFlags())
	if cmd.HasParent() {
		manFlags(&b, "OPTIONS OF THE NODE SET", cmd.InheritedFlags())
	} else {
		manFlags(&b, "OPTIONS OF THE NODE SET", cmd.PersistentFlags())
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n%s", manText(cmd.Example))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, manName(cmd.Parent()))
	}
	for _, c := range manCommands(cmd) {
		also = append(also, manName(c))
	}
	if cmd.HasParent() && cmd.Name() != "exit-codes" {
		also = append(also, manName(cmd.Root())+"-exit-codes")
	}
	fmt.Fprint(&b, ".SH SEE ALSO\n")
	for i, name := range also {
		end := ","
		if i == len(also)-1 {
			end = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(name), end)
	}
	return b.String()
}

// manFlags writes a section of flags, unless all of them are hidden.
func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	head := ".SH " + title + "\n"
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		b.WriteString(head)
		head = ""
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		what, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(name))
		if what != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(what))
		}
		fmt.Fprintf(b, "\n%s\n", roffLine(usage))
	})
}

// manText returns a text of help as paragraphs. A block whose lines are indented keeps its lines.
func manText(text string) string {
	var b strings.Builder
	for block := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		b.WriteString(".PP\n")
		kept := false
		for line := range strings.SplitSeq(block, "\n") {
			if indented := strings.HasPrefix(line, "  "); indented != kept {
				b.WriteString(map[bool]string{true: ".RS 2\n.nf\n", false: ".fi\n.RE\n"}[indented])
				kept = indented
			}
			b.WriteString(roffLine(strings.TrimPrefix(line, "  ")) + "\n")
		}
		if kept {
			b.WriteString(".fi\n.RE\n")
		}
	}
	return b.String()
}

// roffLine returns a line of text in a form that roff does not take for a request.
func roffLine(line string) string {
	line = roff(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

// roff returns text so that the program roff prints each character of it as it is. Without this, roff would treat some
// characters as commands, and replace others by typographic forms.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\(rs`, "-", `\-`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "'", `\(aq`, `"`, `\(dq`, "…", "...").Replace(text)
}
