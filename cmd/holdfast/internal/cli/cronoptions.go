package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/job"
)

// This file reads the options of a line of a cron file.

// cronOptions are the names of all options, in the order of the help.
var cronOptions = []string{
	"missed", "on-crash", "timeout", "grace", "jitter", "ttl", "retries", "backoff", "history", "user", "dir", "env-file", "output",
}

// optionOutside matches a command that begins with an option.
var optionOutside = func() *regexp.Regexp {
	names := "(" + strings.Join(cronOptions, "|") + ")="
	return regexp.MustCompile(`^(` + names + `|[^\s'"]+\s+\[` + names + `)`)
}()

// setOptions reads the text between the brackets.
func (c *cronJob) setOptions(text string) error {
	given := map[string]bool{}
	for option := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(option, "=")
		if given[key] {
			return fmt.Errorf("option %s occurs twice; give it once", key)
		}
		given[key] = true
		if err := c.setOption(key, value); err != nil {
			return err
		}
	}
	if given["backoff"] && c.spec.Retries == 0 {
		return errors.New("option backoff has no meaning without retries; add retries=3, for example")
	}
	return nil
}

func (c *cronJob) setOption(key, value string) error {
	times := map[string]*time.Duration{
		"timeout": &c.timeout, "grace": &c.spec.Grace, "jitter": &c.spec.Jitter, "ttl": &c.spec.TTL, "backoff": &c.spec.Backoff,
	}
	switch {
	case (key == "missed" || key == "on-crash") && value == "":
		return fmt.Errorf("option %s has no value; want %s=skip, for example", key, key)
	case key == "missed":
		if c.spec.Missed = job.Missed(value); !slices.Contains([]job.Missed{job.MissedSkip, job.MissedOnce, job.MissedAll}, c.spec.Missed) {
			return fmt.Errorf("option missed is %q; want skip, once or all", value)
		}
	case key == "on-crash":
		if c.spec.OnCrash = job.OnCrash(value); c.spec.OnCrash != job.CrashSkip && c.spec.OnCrash != job.CrashRetry {
			return fmt.Errorf("option on-crash is %q; want skip or retry", value)
		}
	case times[key] != nil:
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return fmt.Errorf("option %s is %q; want a duration above 0, such as 30s or 10m", key, value)
		}
		*times[key] = d
	case key == "retries", key == "history":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("option %s is %q; want a whole number from 1, or leave the option out", key, value)
		}
		*map[string]*int{"retries": &c.spec.Retries, "history": &c.spec.History}[key] = n
	case key == "user":
		if c.user = value; value == "" {
			return errors.New("option user has no value; want the name of a user, such as user=reports")
		}
		if err := childprocess.MayBecome(value); err != nil {
			return fmt.Errorf("option %w", err)
		}
	case key == "dir", key == "env-file":
		if !filepath.IsAbs(value) {
			return fmt.Errorf("option %s is %q; want a whole path, such as %s=/srv/report", key, value, key)
		}
		*map[string]*string{"dir": &c.dir, "env-file": &c.envFile}[key] = value
	case key == "output":
		if value != "tail" && value != "none" {
			return fmt.Errorf("option output is %q; want tail or none", value)
		}
		c.noOutput = value == "none"
	default:
		last := len(cronOptions) - 1
		return fmt.Errorf("there is no option %q; the options are %s and %s; before a command that begins with [ write []", key,
			strings.Join(cronOptions[:last], ", "), cronOptions[last])
	}
	return nil
}
