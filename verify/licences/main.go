// Command licences lists the licences of the modules that Holdfast requires. It fails if a module has no licence. It
// also fails if a licence is not on the list of licences that allow others to pass Holdfast on under its own licence.
//
//	go run ./verify/licences          all modules that some module requires, except verify: it has rivals, and nobody imports it
//	go run ./verify/licences -texts   the texts for those in the program holdfast
//
// make lint runs the first, and packages contain the second.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	texts := flag.Bool("texts", false, "print the texts of the licences of the modules in the program holdfast")
	flag.Parse()
	if err := run(os.Stdout, *texts); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, texts bool) error {
	packages := []string{"github.com/holdfast-go/holdfast/cmd/holdfast"}
	if !texts {
		dirs, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}/...").Output() // all modules of go.work
		if err != nil {
			return fmt.Errorf("go list -m: %w", err)
		}
		published := slices.DeleteFunc(strings.Fields(string(dirs)), func(dir string) bool { return strings.HasSuffix(dir, "/verify/...") })
		packages = append([]string{"-test"}, published...)
	}
	modules, err := required(packages...)
	if err != nil {
		return err
	}
	var bad []string
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, m := range modules {
		text, err := m.text()
		if err != nil {
			return err
		}
		name := classify(text)
		if name == "" {
			bad = append(bad, m.path+" "+m.version)
		}
		if texts {
			fmt.Fprintf(out, "%s %s (%s)\n\n%s\n%s\n", m.path, m.version, name, strings.TrimSpace(text), strings.Repeat("-", 72))
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", m.path, m.version, name)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf("no licence, or none that is allowed: %s; allowed are %s", strings.Join(bad, ", "), strings.Join(allowed, ", "))
	}
	return nil
}

// module is a module that some package comes from.
type module struct{ path, version, dir string }

// required returns the modules of packages and of all that they import, without Holdfast itself and the standard
// library.
func required(packages ...string) (list []module, err error) {
	args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"}, packages...)
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(said)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 || seen[fields[0]] {
			continue
		}
		seen[fields[0]] = true
		list = append(list, module{fields[0], fields[1], fields[2]})
	}
	slices.SortFunc(list, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// text returns the text of the module's licence, "" if it has none.
func (m module) text() (string, error) {
	files, err := os.ReadDir(m.dir)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if !f.IsDir() && (strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING")) {
			b, err := os.ReadFile(filepath.Join(m.dir, f.Name()))
			return string(b), err
		}
	}
	return "", nil
}

// allowed are the licences that a module may have.
var allowed = []string{"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MPL-2.0"}

// classify returns the name of an allowed licence by its text, "" for another text.
func classify(text string) string {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	has := func(s string) bool { return strings.Contains(words, s) }
	switch {
	case has("mozilla public license version 2.0"): // its text names the licences of GNU
		return "MPL-2.0"
	case has("gnu general public") || has("gnu affero") || has("gnu lesser") || has("server side public"):
		return ""
	case has("apache license version 2.0"):
		return "Apache-2.0"
	case has("permission is hereby granted, free of charge, to any person obtaining a copy"):
		return "MIT"
	case has("permission to use, copy, modify, and/or distribute this software for any purpose") || has("permission to use, copy, modify, and distribute this software for any purpose"):
		return "ISC"
	case has("redistribution and use in source and binary forms") && (has("neither the name of") || has("neither the names of")):
		return "BSD-3-Clause"
	case has("redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	}
	return ""
}
