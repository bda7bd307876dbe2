//go:build unix && !cgo

package stdfd

import (
	"os"

	"golang.org/x/sys/unix"
)

func closed(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return true
	}
	var have, null unix.Stat_t
	if unix.Fstat(fd, &have) != nil || unix.Stat(os.DevNull, &null) != nil {
		return false
	}
	return flags&unix.O_ACCMODE == unix.O_RDWR && have.Mode&unix.S_IFMT == unix.S_IFCHR && have.Rdev == null.Rdev
}
