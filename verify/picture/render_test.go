package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"
)

// A picture is XML, and has each line of the output, also with markup in it. The last line comes at the end.
func TestAPictureHasAllLines(t *testing.T) {
	t.Parallel()
	lines := []line{{"node 2 killed", time.Second}, {"", time.Second}, {`  a <b> & "c" …`, 2 * time.Second}, {"kept  all", 4 * time.Second}}
	svg := render("$ holdfast demo", lines, 8*time.Second)
	var texts []string
	in := xml.NewDecoder(strings.NewReader(svg))
	inside := false
	for {
		token, err := in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inside = x.Name.Local == "text"
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				texts = append(texts, string(x))
			}
		}
	}
	if got, want := strings.Join(texts, "|"), `$ holdfast demo|node 2 killed|  a <b> & "c" …|kept  all`; got != want {
		t.Errorf("texts %q, want %q", got, want)
	}
	for _, want := range []string{`class="bad" style="animation-delay:2.0s"`, `class="good" style="animation-delay:8.0s"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}
