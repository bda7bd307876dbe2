// Package filelock takes an open file for one process, so that others can see whether whoever wrote it is still there.
package filelock

import (
	"errors"
	"os"
	"time"
)

// ErrLocked says that another process, or another open file of this one, has the lock.
var ErrLocked = errors.New("another process is writing to it")

// ErrUnsupported says that the system or the file system knows no locks.
var ErrUnsupported = errors.New("the file system has no locks")

// Try takes the lock of a file until it is closed or the process ends, however it ends. It does not wait. The error is
// [ErrLocked] or [ErrUnsupported].
func Try(f *os.File) error { return try(f) }

// patience is how long Wait waits, and pause how long between two looks.
const patience, pause = 5 * time.Second, 20 * time.Millisecond

// Wait is Try, but waits for a process that is just ending: one that was killed has its locks until the system has
// taken it down, and so has a child that it was starting.
func Wait(f *os.File) error {
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		if err := try(f); !errors.Is(err, ErrLocked) || time.Now().After(end) {
			return err
		}
	}
}
