//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package paper

// processorTime is not known on other systems.
func processorTime() (seconds float64, ok bool) { return 0, false }
