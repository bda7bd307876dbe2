// Package licenses holds the licence texts of all that is linked into the program: its own, those of Go and of the Go
// modules, and, with the build tags of the C solvers, those of the C libraries, also where they are made Go.
//
// The files are made by the generator in gen, after "make deps", whenever go.mod or the pins of the C libraries change:
//
//	go run ./internal/licenses/gen
package licenses

import (
	_ "embed"
	"strings"
)

//go:embed own.txt
var own string

//go:embed go.txt
var modules string

// libraries are the texts of the C libraries of this build.
var libraries []string

// Text returns all texts, each under a line with what it is for.
func Text() string {
	return strings.Join(append([]string{own, modules}, libraries...), "\n")
}

// Heading begins the line above a text.
const Heading = "=== "
