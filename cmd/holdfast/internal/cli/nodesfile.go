package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// This file reads the file of nodes, at the start and again while the command runs.

// nodeLine is a URL in the file of nodes.
type nodeLine struct {
	number int
	url    string
	comma  bool // the line has a comma, which may have split a password
}

// lineError is an error about a line of the file. It never contains a part of the line, which may have a password.
type lineError struct {
	number int
	err    error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.number, e.err) }

// setsVariable matches a line that sets a variable of a shell.
var setsVariable = regexp.MustCompile(`^\s*(export\s+)?[A-Za-z_][A-Za-z0-9_]*\s*=\s*["']?[a-z+]+://`)

// readLines reads the URLs of a file of nodes, and the first line that has something else.
func readLines(file string) (list []nodeLine, bad *lineError, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		urls, err := urlsOf(line)
		if err != nil && bad == nil {
			bad = &lineError{number, err}
		}
		for _, url := range urls {
			list = append(list, nodeLine{number, url, strings.Contains(line, ",")})
		}
	}
	// A URL with Sentinels, or that of a Redis Cluster, may take several lines.
	for i := 1; i < len(list); i++ {
		if joined := wholeURLs([]string{list[i-1].url, list[i].url}); len(joined) == 1 {
			list[i-1].url = joined[0]
			list = slices.Delete(list, i, i+1)
			i--
		}
	}
	for _, l := range list {
		if bad != nil || strings.Contains(l.url, "://") {
			continue
		}
		text := "no scheme; want redis://, rediss:// (over TLS) or unix://, and # before a comment"
		if l.comma {
			text = "no scheme; want redis://, rediss:// (over TLS) or unix://; a comma in a user or password must be written %2C"
		}
		bad = &lineError{l.number, errors.New(text)}
	}
	return list, bad, nil
}

// urlsOf returns the URLs of a line. A comment begins with a # at the beginning of the line, or after white space.
func urlsOf(line string) (urls []string, err error) {
	line, comment := cutComment(line)
	switch {
	case comment != "" && strings.Contains(comment, "@") && strings.TrimSpace(line) != "": // it may be the rest of a password
		return nil, errors.New("there is an @ after a #; put the comment on a line of its own, or write # in a password as %23")
	case setsVariable.MatchString(line):
		return nil, errors.New("remove what is before the URL: the file has only URLs and no variables")
	}
	urls = wholeURLs(pieces(line))
	for _, url := range urls {
		switch {
		case strings.Trim(url[:1], `"'`) == "":
			return nil, errors.New("remove the quotes: the file has only URLs")
		case strings.Contains(line, "://") && !strings.Contains(line, ",") && !strings.Contains(url, "://"):
			return nil, errors.New("there is white space in or beside a URL; write a space in a user or password as %20, and # before a comment")
		}
	}
	return urls, nil
}

// cutComment returns the parts of a line before and after the # that begins a comment.
func cutComment(line string) (before, comment string) {
	for i, r := range line {
		if r == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i], line[i+1:]
		}
	}
	return line, ""
}

// readNodes reads the URLs of the nodes from the file.
func (s *settings) readNodes() error {
	const flags = "--nodes-file (or HOLDFAST_NODES_FILE)"
	list, bad, err := readLines(s.nodesFile)
	switch {
	case err != nil:
		return usage(fmt.Errorf("%s: %w", flags, err), "")
	case bad != nil:
		return usage(fmt.Errorf("%s: %s, %w", flags, s.nodesFile, bad), lineExample)
	case len(list) == 0:
		return usage(fmt.Errorf("%s: %s: %w", flags, s.nodesFile, errNoURL), "")
	}
	for _, l := range list {
		s.nodes, s.lines = append(s.nodes, l.url), append(s.lines, l.number)
	}
	return nil
}

// Examples of nodes in hints.
const (
	lineExample    = "a line of the file looks like redis://10.0.0.1:6379"
	nodesExample   = "it looks like --nodes redis://10.0.0.1:6379,redis://10.0.0.2:6379,redis://10.0.0.3:6379"
	clusterExample = "redis+cluster://10.0.0.1,10.0.0.2,10.0.0.3"
)

// badURL returns the error for a URL that [rueidisnode.Open] does not accept. It names the source of the URL.
func (s *settings) badURL(err error) error {
	text := strings.TrimPrefix(err.Error(), "rueidisnode: ")
	if _, about, found := strings.Cut(text, ": cacert: "); found && s.cacert != "" {
		return usage(fmt.Errorf("--cacert (or HOLDFAST_CACERT): %s", about), "")
	}
	if _, about, found := strings.Cut(text, ": cert and key"); found && s.cert+s.key != "" {
		return usage(fmt.Errorf("--cert and --key (or HOLDFAST_CERT and HOLDFAST_KEY)%s", about), "")
	}
	nodes, line := nodesExample, lineExample
	if slices.ContainsFunc(s.nodes, meansCluster) {
		nodes, line = "it looks like --nodes "+clusterExample, "a line of the file looks like "+clusterExample
	}
	if s.nodesFile == "" {
		return usage(fmt.Errorf("--nodes (or HOLDFAST_NODES): %s", text), nodes)
	}
	source := "--nodes-file (or HOLDFAST_NODES_FILE): " + s.nodesFile
	var n int // the number of the bad URL
	if _, e := fmt.Sscanf(text, "URL %d of", &n); e == nil && n >= 1 && n <= len(s.lines) {
		source += fmt.Sprintf(", line %d", s.lines[n-1])
	}
	return usage(fmt.Errorf("%s: %s", source, text), line)
}

// meansCluster reports whether the scheme of a URL has the word cluster, also with a mistake in it.
func meansCluster(url string) bool {
	scheme, _, is := strings.Cut(url, "://")
	return is && strings.Contains(strings.ToLower(scheme), "cluster")
}

// exposed reports whether others on this machine may read the file of nodes and the file has passwords.
func (s *settings) exposed() bool {
	if s.nodesFile == "" || !secret(s.nodes.String()) {
		return false
	}
	about, err := os.Stat(s.nodesFile)
	return err == nil && about.Mode().IsRegular() && about.Mode()&0o004 != 0
}

// openNodes makes the nodes. Nodes of a file read it again for each new connection, so that passwords can change.
func (s *settings) openNodes() ([]node.Node, error) {
	nodes, err := rueidisnode.Open(s.urls()...)
	if err != nil || s.nodesFile == "" {
		return nodes, err
	}
	file, err := filepath.Abs(s.nodesFile)
	about, gone := os.Stat(s.nodesFile)
	if err != nil || gone != nil || !about.Mode().IsRegular() { // a pipe has its text only once
		return nodes, nil
	}
	s.rotates = true
	for i, n := range nodes {
		rotating, err := newNode(s.urls()[i], rueidisnode.Rotating(func() (string, error) { return urlFor(file, n.Addr()) }))
		if err != nil {
			return nil, err // cannot happen, because Open accepted the URL
		}
		n.Close()
		nodes[i] = rotating
	}
	return nodes, nil
}

// newNode makes the node, or the Redis Cluster, of a URL.
func newNode(url string, opts ...rueidisnode.Option) (node.Node, error) {
	if scheme, _, _ := strings.Cut(url, "://"); clusterScheme(scheme) {
		return rueidisnode.NewCluster(url, opts...)
	}
	return rueidisnode.New(url, opts...)
}

// urlFor returns the URL in a file of nodes that has this address. A mistake in another line does not matter to it.
func urlFor(file, addr string) (string, error) {
	list, _, err := readLines(file)
	if err != nil {
		return "", err
	}
	for _, l := range list {
		if addressOf(l.url) == addr {
			return l.url, nil
		}
	}
	return "", fmt.Errorf("%s has no line for %s any more", file, addr)
}

// addressOf returns the address of the node with this URL, "" for a bad URL.
func addressOf(url string) string {
	n, err := newNode(url)
	if err != nil {
		return ""
	}
	defer n.Close()
	return n.Addr()
}

// reread returns what a person must know about the file of nodes and the certificate authorities, if they have changed
// since the start. A file that the nodes do not read again is left out.
func (s *settings) reread() (says []string) {
	if slices.ContainsFunc(s.urls(), overTLS) {
		if err := rueidisnode.Authorities(); err != nil {
			says = append(says, fmt.Sprintf("the certificate authorities are left as they were: %v", err))
		}
	}
	for _, url := range s.urls() {
		n, err := newNode(url)
		if err == nil {
			n.Close()
		} else if say := fmt.Sprintf("the certificates are left as they were: %v", err); overTLS(url) && !slices.Contains(says, say) {
			says = append(says, say)
		}
	}
	if !s.rotates {
		return says
	}
	about, err := os.Stat(s.nodesFile)
	if err == nil && !about.Mode().IsRegular() {
		err = errors.New(s.nodesFile + " is no regular file any more")
	}
	var list []nodeLine
	if err == nil {
		list, _, err = readLines(s.nodesFile)
	}
	if err != nil {
		return append(says, fmt.Sprintf("the passwords of the nodes are left as they were: %v", err))
	}
	var now []string
	for _, l := range list {
		now = append(now, addressOf(l.url))
	}
	var was []string
	for _, url := range s.urls() {
		was = append(was, addressOf(url))
		if addr := addressOf(url); !slices.Contains(now, addr) {
			says = append(says, fmt.Sprintf("the passwords of the nodes are left as they were: %s has no line for %s any more", s.nodesFile, addr))
		}
	}
	present := settings{nodesFile: s.nodesFile}
	if err = present.readNodes(); err == nil {
		var nodes []node.Node
		if nodes, err = rueidisnode.Open(present.nodes...); err != nil {
			err = present.badURL(err)
		}
		closeAll(nodes)
	}
	if err != nil {
		return append(says, fmt.Sprintf("the next start will refuse the file of nodes: %v", err))
	}
	for _, addr := range now {
		if !slices.Contains(was, addr) {
			says = append(says, fmt.Sprintf("%s has the new node %s, which needs a restart: the addresses are never read again", s.nodesFile, addr))
		}
	}
	return says
}

// overTLS reports whether a URL is one over TLS.
func overTLS(url string) bool {
	url = strings.ToLower(url)
	return strings.HasPrefix(url, "rediss") || strings.HasPrefix(url, "valkeys")
}
