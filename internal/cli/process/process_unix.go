//go:build unix

package process

import (
	"os/signal"
	"syscall"
)

// prepareSystem leaves no core dumps, which would be as large as the memory, and makes a file beyond the limit of its
// size (ulimit -f) an error of writing.
func prepareSystem() {
	signal.Ignore(syscall.SIGXFSZ)
	var core syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &core) == nil {
		core.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &core) // at worst there is a dump
	}
}
