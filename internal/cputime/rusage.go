//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Package cputime tells the processor time of this process.
package cputime

import "golang.org/x/sys/unix"

// Seconds are what this process has used so far on all cores; false where the system does not tell.
func Seconds() (seconds float64, ok bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	for _, t := range []unix.Timeval{u.Utime, u.Stime} {
		seconds += float64(t.Nano()) / 1e9
	}
	return seconds, true
}
