//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package paper

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes a file for this process, until it is closed or the process ends, however it ends. Where the file system knows
// no locks there is none.
func lock(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return errors.New("another process is writing to it")
	}
	return nil
}
