package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
)

// This file has what a job of a cron file needs of its machine: a user, a folder, a file of variables, a shell and a
// program. Each run looks for them again.

// cronHost is what this machine has for a run of a job.
type cronHost struct {
	user  *childprocess.User // nil: the user of cron
	env   []string           // the variables of the command: those of the user, of the settings and of the env-file
	inEnv []string           // those of the env-file alone
}

// host looks for everything that a run needs. Its error is the reason why this machine cannot run the job. ctx ends the
// process that it starts. Nothing ends its system calls: see cronlook.go.
func (c *cronJob) host(ctx context.Context) (h cronHost, err error) {
	if c.user != "" {
		if h.user, err = childprocess.LookUpUser(c.user); err != nil {
			return h, err
		}
	}
	if h.user != nil {
		h.env = append(h.env, "HOME="+h.user.Home, "USER="+h.user.Name, "LOGNAME="+h.user.Name)
	}
	h.env = append(h.env, c.env...)
	if c.dir != "" {
		switch about, err := os.Stat(c.dir); {
		case err != nil:
			return h, fmt.Errorf("option dir: %w", err)
		case !about.IsDir():
			return h, fmt.Errorf("option dir: %s is no folder", c.dir)
		}
		if err := childprocess.CanEnter(ctx, c.dir, h.user); err != nil {
			return h, fmt.Errorf("option dir: %w", err)
		}
	}
	if c.envFile != "" {
		if h.inEnv, err = readEnvFile(c.envFile); err != nil {
			return h, fmt.Errorf("option env-file: %w", err)
		}
		h.env = append(h.env, h.inEnv...)
	}
	if _, err := childprocess.Find(c.shell()); err != nil {
		return h, err
	}
	return h, c.findProgram(h.env)
}

// mostEnvFile is the size of the largest env-file, in bytes. All variables of a process together have a limit like this.
const mostEnvFile = 128 << 10

// readEnvFile reads the variables of a file: a line is NAME=value, as the settings of a cron file, or a comment after #.
// An error contains no part of a line, which may be a secret.
func readEnvFile(path string) (env []string, err error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(text) > mostEnvFile {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are allowed", path, len(text), mostEnvFile)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		set := assignment.FindStringSubmatch(strings.TrimPrefix(line, "export "))
		if set == nil {
			return nil, fmt.Errorf("%s, line %d: want NAME=value, or # before a comment", path, number)
		}
		value := unquoted(set[2])
		switch {
		case strings.ContainsRune(value, 0):
			return nil, fmt.Errorf("%s, line %d: a NUL byte, which no variable can have", path, number)
		case ownVariable(set[1]):
			return nil, fmt.Errorf("%s, line %d: %s cannot be set: cron sets it for each command", path, number, set[1])
		}
		env = append(env, set[1]+"="+value)
	}
	return env, nil
}

// unquoted returns a value without the quotes around it.
func unquoted(value string) string {
	if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		return value[1 : len(value)-1]
	}
	return value
}

// ownVariable reports whether cron itself sets a variable for each command.
func ownVariable(name string) bool {
	return slices.Contains([]string{"HOLDFAST_TICK", "HOLDFAST_NAME", "HOLDFAST_FENCE", "HOLDFAST_OWNER"}, name)
}

var (
	// simpleCommand matches a command whose first word is a program: no other command could stand in for it.
	simpleCommand = regexp.MustCompile("^[A-Za-z0-9_./+-]+([ \t][^;&|()`]*)?$")
	// shells are the shells whose first word is looked for.
	shells = []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}
	// builtins are words that shells know without a program.
	builtins = strings.Fields(`. : alias autoload bg bind break builtin caller case cd chdir command compgen complete compopt continue declare
		dirs disable disown do done echo elif else emulate enable esac eval exec exit export false fc fg fi float for foreach function getopts
		hash help history if in integer jobs kill let local logout mapfile noglob popd print printf pushd pwd read readarray readonly repeat
		return select set setopt shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset unsetopt
		until wait whence where which while`)
)

// findProgram returns an error if the command is one program with arguments, and this machine does not have the program. A
// shell would find that only after the tick was taken.
func (c *cronJob) findProgram(env []string) error {
	if !simpleCommand.MatchString(c.command) || !slices.Contains(shells, filepath.Base(c.shell())) {
		return nil
	}
	program := strings.Fields(c.command)[0]
	if slices.Contains(builtins, program) {
		return nil
	}
	if strings.Contains(program, "/") {
		path := program
		if !filepath.IsAbs(path) && c.dir != "" {
			path = filepath.Join(c.dir, path)
		}
		_, err := childprocess.Find(path)
		return err
	}
	if filepath.Base(c.shell()) == "zsh" {
		return nil // it reads /etc/zshenv and ~/.zshenv before each command, and they may change PATH
	}
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "BASH_ENV=") || strings.HasPrefix(kv, "ENV=") }) {
		return nil // the shell may read functions there
	}
	path := os.Getenv("PATH")
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	for _, folder := range filepath.SplitList(path) {
		if folder == "" {
			folder = "."
		}
		if !filepath.IsAbs(folder) && c.dir != "" {
			folder = filepath.Join(c.dir, folder)
		}
		if _, err := exec.LookPath(folder + "/" + program); err == nil || errors.Is(err, exec.ErrDot) {
			return nil
		}
	}
	return fmt.Errorf("%s: %w in PATH=%s", program, childprocess.ErrNotFound, path)
}
