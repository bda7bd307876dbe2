// Package spool has temporary files for what does not fit into memory.
package spool

import "os"

// File is a temporary file that is removed when it is closed, or before where the system allows it.
type File struct {
	*os.File
	named bool // it has a name to remove
}

// New makes one.
func New() (*File, error) {
	f, err := os.CreateTemp("", "conetune-*")
	if err != nil {
		return nil, err
	}
	return &File{f, os.Remove(f.Name()) != nil}, nil
}

// Close removes it.
func (f *File) Close() error {
	err := f.File.Close()
	if f.named {
		_ = os.Remove(f.Name())
	}
	return err
}
