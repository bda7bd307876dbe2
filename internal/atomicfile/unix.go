//go:build unix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dontWait opens a pipe without waiting for a reader.
const dontWait = unix.O_NONBLOCK

// noReader says whether opening a pipe failed for want of a reader.
func noReader(err error) bool { return errors.Is(err, unix.ENXIO) }

// syncFolder forces the names of a folder to disk, so that a renamed file has its new name after a crash. Not all file
// systems can.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return nil // a folder may be writable and not readable
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
