package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Each command that help lists has a page with all flags that its help lists.
func TestEachCommandHasAPage(t *testing.T) {
	_, root, _ := harmless(t)
	pages := manPages(root)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		page := pages[manName(cmd)+".1"]
		if !strings.HasPrefix(page, ".TH HOLDFAST") || !strings.Contains(page, roff(cmd.Short)) {
			t.Errorf("%s has the page %.100q", cmd.CommandPath(), page)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if has := strings.Contains(page, roff("--"+f.Name)+`\fR`); has == f.Hidden {
				t.Errorf("%s: the page names --%s: %v", cmd.CommandPath(), f.Name, has)
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
	if len(pages) < 15 || pages["holdfast-nodes-trust.1"] == "" || pages["holdfast-man.1"] == "" {
		t.Errorf("%d pages", len(pages))
	}
	for name, page := range pages {
		kept := false
		for line := range strings.Lines(page) {
			request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch request {
			case ".nf", ".fi":
				if kept == (request == ".nf") {
					t.Errorf("%s: %s out of order", name, request)
				}
				kept = request == ".nf"
			case ".TH", ".SH", ".PP", ".TP", ".RS", ".RE", ".BR", ".nh", ".ad":
			default:
				if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") || strings.ContainsAny(line, "`~^'") {
					t.Errorf("%s: line %q", name, line)
				}
			}
		}
	}
}

func TestTextOfAPageKeepsItsBlocks(t *testing.T) {
	got := manText("a b\n.c\n\n  d -e\n   'f\n\ng \\n\n  h\ni")
	want := ".PP\na b\n\\&.c\n.PP\n.RS 2\n.nf\nd \\-e\n \\(aqf\n.fi\n.RE\n.PP\ng \\(rsn\n.RS 2\n.nf\nh\n.fi\n.RE\ni\n"
	if got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}
