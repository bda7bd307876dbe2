// Package stdfd says which of the standard descriptors 0, 1 and 2 were closed when the program began, as by the shell's
// ">&-". The Go runtime opens /dev/null in their place before anything of a program runs, so that writing succeeds and
// what is written is lost.
//
// A program that is built with cgo looks before the runtime does. One without looks at what is there: the runtime opens
// /dev/null for reading and writing, a shell's ">/dev/null" for writing only. There, a parent that itself opens
// /dev/null for both as standard output cannot be told from a closed one.
package stdfd

// Closed says whether a standard descriptor was closed at the start. It is false on systems where that cannot be found
// out.
func Closed(fd int) bool { return closed(fd) }
