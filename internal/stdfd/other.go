//go:build !unix

package stdfd

func closed(int) bool { return false }
