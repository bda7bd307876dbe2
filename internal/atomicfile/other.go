//go:build !unix

package atomicfile

// dontWait is for pipes, which have no names here.
const dontWait = 0

func noReader(error) bool { return false }

// syncFolder does nothing: a folder cannot be opened for it.
func syncFolder(string) error { return nil }
