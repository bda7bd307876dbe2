//go:build scs && cgo

package licenses

import _ "embed"

// What SCS in C links; the one made Go goes to gonum.
//
//go:embed openblas.txt
var openBLASText string

func init() { libraries = append(libraries, openBLASText) }
