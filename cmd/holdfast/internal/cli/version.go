package cli

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// A release build sets these by -ldflags -X. Other builds leave them empty: then the build information of Go has them.
var (
	releaseVersion string
	releaseCommit  string
)

func (a *app) versioning() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, as --version does",
		Long: `version prints the version of holdfast, its commit, and the version of Go that made
it. holdfast --version prints the same line.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "holdfast %s\n", cmd.Root().Version)
			return err
		},
	}
}

// version returns the version, and in brackets the commit and the version of Go. A commit with changes has a plus sign.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(releaseVersion, releaseCommit, info)
}

func versionOf(release, commit string, info *debug.BuildInfo) string {
	changed := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && commit == "":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true" && release == "":
			changed = "+"
		}
	}
	version := strings.TrimSuffix(or(release, or(info.Main.Version, "(devel)")), "+dirty")
	var details []string
	if commit != "" {
		details = append(details, "commit "+commit[:min(len(commit), 12)]+changed)
	}
	if info.GoVersion != "" {
		details = append(details, info.GoVersion)
	}
	if len(details) == 0 {
		return version
	}
	return version + " (" + strings.Join(details, ", ") + ")"
}
