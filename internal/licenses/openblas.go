//go:build (scs || clarabel) && cgo

package licenses

import _ "embed"

// What SCS in C and Clarabel link; the SCS made Go goes to gonum.
//
//go:embed openblas.txt
var openBLASText string

func init() { libraries = append(libraries, openBLASText) }
