package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// Five real servers run with the settings of the file, and a client with its nodes and user gets the lock, also without
// two of them.
func TestCompose(t *testing.T) {
	t.Parallel()
	file := documents(t, "../../examples/compose/compose.yaml")[0]
	list, err := os.ReadFile("../../examples/compose/nodes")
	if err != nil {
		t.Fatal(err)
	}
	users, err := filepath.Abs("../../examples/compose/users.acl")
	if err != nil {
		t.Fatal(err)
	}
	urls, servers := string(list), []*redistest.Server{}
	for i := range 5 {
		service := fmt.Sprint("node", i+1)
		command := words(t, at(t, file, "services", service, "command"))
		for j, w := range command {
			if w == "/etc/redis/users.acl" {
				command[j] = users
			}
		}
		// The file of users switches the user default off, but the test's own commands run as this user. So the server
		// starts without the file, and the test creates the other users of the file.
		server := redistest.Start(t, redistest.Args(command[1:len(command)-2]...))
		server.MustDo(t, "ACL", "SETUSER", "holdfast", "reset")
		text, err := os.ReadFile(users)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if words[1] == "default" {
				continue
			}
			rule := []any{"ACL", "SETUSER"}
			for _, w := range words[1:] {
				rule = append(rule, w)
			}
			server.MustDo(t, rule...)
		}
		if !strings.Contains(urls, "@"+service+"\n") {
			t.Errorf("the file of nodes has no %s", service)
		}
		urls = strings.Replace(urls, "@"+service+"\n", "@"+server.Addr()+"\n", 1)
		servers = append(servers, server)
	}
	env := append(nodesFile(t, []string{urls}), "HOLDFAST_CLUSTER=compose")
	if at(t, file, "services", "first", "environment", "HOLDFAST_NODES_FILE") != "/run/secrets/nodes" || at(t, file, "secrets", "nodes", "file") != "./nodes" {
		t.Error("the client has no file of nodes")
	}
	command := instead(t, words(t, at(t, file, "services", "second", "command")), "sh", "-c", "echo term $HOLDFAST_FENCE")
	redistest.Eventually(t, time.Minute, "the nodes to vote", func() bool { // a busy machine may answer the first vouchers too late
		_, code := run(t, ".", env, "holdfast", "nodes", "trust", "--yes")
		return code == 0
	})
	for _, server := range servers { // trust looks for locks, which needs more rights than the service has
		server.MustDo(t, "ACL", "LOG", "RESET")
	}
	for range 2 {
		if out, code := run(t, ".", env, command...); !strings.HasPrefix(out, "term 1") || code != 0 {
			t.Errorf("%q: exit code %d, %q", command, code, out)
		}
		servers[0].Kill()
		servers[1].Kill()
	}
	for _, s := range servers[2:] {
		if log := s.MustDo(t, "ACL", "LOG").([]any); len(log) > 0 {
			t.Errorf("a server refused %v", log)
		}
	}

	// The users of the file are those that holdfast acl prints.
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rule, _ := run(t, ".", env, "holdfast", "acl", "--form", "aclfile", "--password-file", password)
	if text, err := os.ReadFile(users); err != nil || string(text) != "user default off\n"+rule {
		t.Errorf("%s differs from holdfast acl: %s, %v", users, text, err)
	}
}
