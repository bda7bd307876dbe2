package main

import "github.com/conetune/conetune/model"

// readModel reads a model file, or one from standard input.
func (a *app) readModel(path string) (*model.Model, error) {
	if path == standardStream {
		return model.ReadFrom(a.stdin, "standard input")
	}
	return model.Read(path)
}
