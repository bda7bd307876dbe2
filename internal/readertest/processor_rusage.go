//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package readertest

import "golang.org/x/sys/unix"

// processor is the processor time of this process so far, in seconds, or 0.
func processor() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
