// Package docs checks the documents: their programs compile, their commands find their tests, their links have a
// target, and each call of the library has an example that runs. The examples in the documentation of package
// holdfasttest run here, too.
package docs
