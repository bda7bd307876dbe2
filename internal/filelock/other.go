//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import "os"

func try(*os.File) error { return ErrUnsupported }
