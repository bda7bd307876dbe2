package memory

import (
	"math"

	"golang.org/x/sys/unix"
)

// system is the physical memory.
func system() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil || n == 0 || n > math.MaxInt64 {
		return Fallback
	}
	return int64(n)
}
