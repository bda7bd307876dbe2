//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package paper

import "os"

// lock does nothing on systems without flock: two processes must not be given the same folder there.
func lock(*os.File) error { return nil }
