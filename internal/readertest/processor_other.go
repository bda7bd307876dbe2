//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package readertest

// processor is the processor time of this process so far, in seconds, or 0.
func processor() float64 { return 0 }
