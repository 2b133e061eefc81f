// Package docs checks the documents: their programs compile, their commands find their tests, and their links have a
// target. The examples in the documentation of package holdfasttest run here, too.
package docs
