//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package cputime

// Seconds are not known on other systems.
func Seconds() (seconds float64, ok bool) { return 0, false }
