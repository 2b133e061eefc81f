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

// TestThePageShowsABusySet looks at all tabs of a busy set: wide and narrow, light and dark.
func TestThePageShowsABusySet(t *testing.T) {
	b := open(t, demo(t))
	b.until("document.querySelectorAll('.locks tbody tr').length === 5 && document.querySelectorAll('.jobs tbody tr').length > 1 && document.querySelectorAll('.elections tbody tr').length > 0")
	b.until("document.querySelectorAll('.chart .line')[0].getAttribute('d').split('L').length > 8")
	b.views("busy")
	b.visit("#/locks", ".locks tbody tr")
	for _, word := range []string{"orders/1044", "catalogue", "<b onclick="} {
		b.until("document.querySelector('#locks').textContent.includes(" + strconv.Quote(word) + ")")
	}
	b.views("busy-locks")
	b.visit("#/elections", ".elections tbody tr")
	b.until("document.querySelector('.elections tbody').textContent.includes('https://10.0.0.')")
	b.view("busy-elections", 1280, "light")
	b.visit("#/semaphores", ".semaphores tbody tr")
	b.view("busy-semaphores", 360, "dark")
	b.visit("#/semaphore/gpu", ".answers tbody tr")
	b.until("[...document.querySelectorAll('.holders td.slot')].some((e) => e.textContent === '3')")
	b.view("busy-semaphore", 1280, "dark")
	b.view("busy-semaphore", 360, "light")
	b.visit("#/election/db-writer", ".answers tbody tr")
	// The facts and the table of holders are of one reading, so they name one leader.
	b.until("document.querySelector('.holders td.holder') && document.querySelector('.facts').textContent.includes(document.querySelector('.holders td.holder').firstChild.textContent + ' leads')")
	b.until("document.querySelector('.facts').textContent.includes('https://10.0.0.')")
	b.view("busy-election", 1280, "light")
	b.visit("#/jobs", ".jobs tbody tr")
	b.view("busy-jobs", 1280, "dark")
	b.view("busy-jobs", 360, "light")
	b.visit("#/job/sync", ".runs li")
	b.view("busy-job", 1280, "light")
	b.view("busy-job", 360, "dark")
	b.visit("#/nodes", ".nodes tbody tr")
	b.view("busy-nodes", 360, "light")
	b.clean()
}
