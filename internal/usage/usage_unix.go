//go:build unix

// Package usage says what processes have taken, where the system tells.
package usage

import (
	"os"
	"runtime"
	"syscall"
)

// Processor is what this process has used so far, in seconds, on all cores; 0 where the system does not tell.
func Processor() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// Peak is the largest resident set of a process that has ended, in bytes; 0 where the system does not tell.
func Peak(state *os.ProcessState) float64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin" || runtime.GOOS == "ios":
		return float64(usage.Maxrss)
	}
	return 1024 * float64(usage.Maxrss)
}
