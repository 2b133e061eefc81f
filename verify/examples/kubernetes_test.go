package check

import (
	"strings"
	"testing"
)

// The commands of the manifest run, with the file of nodes that the manifest makes.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	containers, secret := 0, ""
	for _, d := range documents(t, "../../examples/kubernetes/holdfast.yaml") {
		var pod any
		switch at(t, d, "kind") {
		case "Secret":
			secret = at(t, d, "stringData", "nodes").(string)
			continue
		case "CronJob":
			pod = at(t, d, "spec", "jobTemplate", "spec", "template", "spec")
		case "Deployment":
			pod = at(t, d, "spec", "template", "spec")
		default:
			t.Fatalf("a %v", at(t, d, "kind"))
		}
		c := at(t, pod, "containers", 0)
		variable, mount := at(t, c, "env", 0), at(t, c, "volumeMounts", 0)
		if at(t, variable, "name") != "HOLDFAST_NODES_FILE" || at(t, variable, "value") != at(t, mount, "mountPath").(string)+"/nodes" ||
			at(t, mount, "name") != at(t, pod, "volumes", 0, "name") || at(t, pod, "volumes", 0, "secret", "secretName") != "holdfast-nodes" {
			t.Errorf("%v: the file of nodes is not where the command looks for it", at(t, d, "metadata", "name"))
		}
		if grace := at(t, pod, "terminationGracePeriodSeconds").(int); grace <= 20 {
			t.Errorf("%v: the pod gets %d s to end", at(t, d, "metadata", "name"), grace)
		}
		command := instead(t, words(t, at(t, c, "command")), "sh", "-c", "echo ran; exit 3")
		if out, code := run(t, ".", nodes(t), command...); out != "ran\n" || code != 3 {
			t.Errorf("%q: exit code %d, %q", command, code, out)
		}
		containers++
	}
	if containers != 2 || len(strings.Fields(secret)) != 3 {
		t.Errorf("%d containers, nodes %q", containers, secret)
	}
	if n := len(documents(t, "../../examples/jobs/kubernetes.yaml")); n != 2 {
		t.Errorf("jobs/kubernetes.yaml has %d documents", n)
	}
}
