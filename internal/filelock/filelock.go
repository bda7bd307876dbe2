// Package filelock takes an open file for one process, so that others can see whether whoever wrote it is still there.
package filelock

import (
	"errors"
	"os"
)

// ErrLocked says that another process, or another open file of this one, has the lock.
var ErrLocked = errors.New("another process is writing to it")

// ErrUnsupported says that the system or the file system knows no locks.
var ErrUnsupported = errors.New("the file system has no locks")

// Try takes the lock of a file until it is closed or the process ends, however it ends. It does not wait. The error is
// [ErrLocked] or [ErrUnsupported].
func Try(f *os.File) error { return try(f) }
