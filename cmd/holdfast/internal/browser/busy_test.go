package browser

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// demo starts holdfast ui --demo, and returns its address.
func demo(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "holdfast")
	build := exec.Command("go", "build", "-o", bin, "./cmd/holdfast")
	build.Dir = "../../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(bin, "ui", "--demo", "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("holdfast ui: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// TestThePageShowsABusySet looks at the page of a busy set: wide and narrow, light and dark.
func TestThePageShowsABusySet(t *testing.T) {
	b := open(t, demo(t))
	b.until("document.querySelectorAll('.locks tbody tr').length > 10 && document.querySelectorAll('.jobs tbody tr').length > 1 && document.querySelectorAll('.elections tbody tr').length > 0")
	b.until("document.querySelectorAll('.chart .line')[0].getAttribute('d').split('L').length > 8")
	for _, word := range []string{"orders/1044", "catalogue", "slot 3", "<b onclick="} {
		b.until("document.querySelector('#locks').textContent.includes(" + strconv.Quote(word) + ")")
	}
	if !strings.Contains(b.text(".elections tbody"), "https://10.0.0.") {
		t.Errorf("the election has no value: %s", b.text(".elections tbody"))
	}
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			name := scheme + "-" + strconv.FormatInt(width, 10)
			b.look(width, scheme, name)
			b.axe(name)
			if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				t.Errorf("%s: the page is %d pixels too wide", name, over)
			}
		}
	}
	b.clean()
}
