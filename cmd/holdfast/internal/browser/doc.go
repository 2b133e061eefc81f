// Package browser tests the page of holdfast ui in a real Chromium: make ui-check. It has no code of its own. axe-core
// checks the page for people who use a screen reader or a keyboard. The screenshots go to the folder screenshots.
package browser
