// Package ui is the server and the page of holdfast ui. The page is read-only unless [Config.Actions] is set. The folder
// page has the files of the page, one for each component, which are embedded in the program. The folder page/lib has
// unchanged copies of libraries, without source maps. scripts/ui-libraries.sh fetches them, and a test compares their
// checksums.
//
// guard.go decides which requests are answered, login.go who may read, events.go sends the readings, details.go answers
// questions about one name, actions.go changes locks and jobs, and listen.go decides where the server may listen.
package ui
