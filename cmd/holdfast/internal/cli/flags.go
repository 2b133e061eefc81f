package cli

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast"
)

// nodeList is a flag that contains URLs, separated by commas or white space. If the flag is given twice, all URLs
// count. If the second one replaced the first, a client could use a smaller node set without notice. An empty list is
// an error: probably a variable in a script was not set, and the default node would be the wrong node.
type nodeList []string

func (l *nodeList) String() string { return strings.Join(*l, ",") }

func (*nodeList) Type() string { return "URLs" }

func (l *nodeList) Set(text string) error {
	list := pieces(text)
	if len(list) == 0 {
		return errNoURL
	}
	if emptyPiece.MatchString(text) {
		return errEmptyURL
	}
	switch {
	case strings.HasPrefix(list[0], `"`) || strings.HasPrefix(list[0], "'"):
		return errors.New("the quotes are a part of the list; remove them")
	case semicolon.MatchString(text):
		return errors.New("there is a ; between two URLs; write a comma")
	}
	*l = append(*l, wholeURLs(list)...)
	return nil
}

// emptyPiece matches a list with a comma that has no URL before or after it. In a script, such a list often comes from
// a variable that is not set, and the smaller node set would exclude nobody.
var emptyPiece = regexp.MustCompile(`^\s*,|,\s*,|,\s*$`)

var semicolon = regexp.MustCompile(`;\s*[a-z+]+://`)

var errEmptyURL = errors.New("there is a comma without a URL on both sides; is a variable empty, or a space behind the comma?")

var errNoURL = errors.New("want the URL of at least one node")

// pieces splits a list of URLs at commas and white space.
func pieces(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
}

// wholeURLs joins the Sentinels of one URL, and the servers of a Redis Cluster. A list of URLs and the list of hosts in a
// URL both have commas. The list of Sentinels ends with the / before the name of the master, and that of a cluster with
// the parameters, or with the next URL.
func wholeURLs(pieces []string) []string {
	var urls []string
	open := false
	for _, p := range pieces {
		if open && !strings.Contains(p, "://") {
			urls[len(urls)-1] += "," + p
		} else {
			urls = append(urls, p)
		}
		scheme, rest, _ := strings.Cut(urls[len(urls)-1], "://")
		open = strings.HasSuffix(strings.ToLower(scheme), "+sentinel") && !strings.Contains(rest, "/") ||
			meansCluster(urls[len(urls)-1]) && !strings.ContainsAny(rest, "/?")
	}
	return urls
}

// clusterScheme reports whether URLs with this scheme lead to a Redis Cluster.
func clusterScheme(scheme string) bool { return strings.HasSuffix(strings.ToLower(scheme), "+cluster") }

// onCluster reports whether the URL of the nodes is that of a Redis Cluster.
func (s *settings) onCluster() bool {
	scheme, _, _ := strings.Cut(s.urls()[0], "://")
	return clusterScheme(scheme)
}

// nameList is a flag that contains the name of a lock. It may be given several times. A name may contain commas.
type nameList []string

func (l *nameList) String() string { return strings.Join(*l, ", ") }

func (*nameList) Type() string { return "NAME" }

func (l *nameList) Set(name string) error {
	*l = append(*l, name)
	return nil
}

// duration is a flag that contains a duration. Its errors name the allowed values.
type duration struct {
	value time.Duration
	zero  bool // 0 is allowed
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
	case err != nil && wellFormed.MatchString(text):
		return fmt.Errorf("too large; the largest is %dh", time.Duration(math.MaxInt64)/time.Hour)
	case err != nil && digits.MatchString(text):
		return fmt.Errorf("the unit is missing; want %ss or %sm, for example", text, text)
	case err != nil:
		return errors.New("want a duration such as 500ms, 10s or 5m")
	case v < 0 && d.zero:
		return errors.New("want a duration of at least 0s")
	case v <= 0 && !d.zero:
		return errors.New("want a duration of more than 0s")
	}
	d.value, d.given = v, true
	return nil
}

var digits = regexp.MustCompile(`^\d{1,9}$`)

// slotCount is a flag that contains the number of slots of a semaphore. 0 means that it was not given.
type slotCount int

func (n *slotCount) String() string {
	if *n == 0 {
		return ""
	}
	return strconv.Itoa(int(*n))
}

func (*slotCount) Type() string { return "number" }

func (n *slotCount) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > holdfast.MostSlots {
		return fmt.Errorf("want a number from 1 to %d", holdfast.MostSlots)
	}
	*n = slotCount(v)
	return nil
}

// wellFormed matches texts that have the form of a duration. If time.ParseDuration refuses such a text, the duration
// is too long. The error of ParseDuration does not say which of the two is wrong.
var wellFormed = regexp.MustCompile(`^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)

var errNoMeaning = errors.New("has no meaning here")

// meaningless is a global flag that has no effect on a command. It makes a clear error if it is given. Otherwise the
// command would ignore it silently, or call it unknown.
type meaningless struct{ pflag.Value }

func (meaningless) Set(string) error { return errNoMeaning }

// refuse makes a command refuse the flags that it inherits, except its own ones. Help does not show the refused flags.
func refuse(inherited, own *pflag.FlagSet) {
	inherited.VisitAll(func(f *pflag.Flag) {
		refused := *f
		refused.Value, refused.Hidden = meaningless{f.Value}, true
		own.AddFlag(&refused)
	})
}

// nearestFlag returns the name of the flag that a user probably meant by an unknown one, "" if there is none. It may
// have two typing errors, one in a short name, or be the beginning of the flag's name. A single - in place of -- counts
// too.
func nearestFlag(flags *pflag.FlagSet, unknown *pflag.NotExistError) (nearest string) {
	given := unknown.GetSpecifiedName()
	if all := unknown.GetSpecifiedShortnames(); all != "" {
		given = all
	}
	if len(given) < 2 {
		return ""
	}
	least := min(2, (len(given)-1)/2) + 1
	flags.VisitAll(func(f *pflag.Flag) {
		d := typos(given, f.Name)
		if strings.HasPrefix(f.Name, given) {
			d = min(d, 1)
		}
		if !f.Hidden && d < least {
			nearest, least = f.Name, d
		}
	})
	return nearest
}

// typos returns how many letters of a must be changed, added, left out, or exchanged with the next letter to get b.
func typos(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
