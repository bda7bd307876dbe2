package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/portfolio"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/tune"
)

// findModel looks a model up by name.
func findModel(name string) (model.Spec, error) {
	spec, err := model.Find(name)
	if err != nil {
		return spec, badInputf("unknown model %q%s; known are: %s", name, didYouMean(name, model.Names()), joined(model.Names()))
	}
	return spec, nil
}

// sayWhich adds to the error of a method that cannot do a model which ones it can.
func sayWhich(err error) error {
	var unable *tune.UnableError
	if errors.As(err, &unable) {
		return fmt.Errorf("%w, which there is for %s", err, joined(model.Able(unable.Method)))
	}
	return err
}

// modelList describes the models, for help texts.
func modelList() string {
	var b strings.Builder
	for _, m := range model.Specs() {
		fmt.Fprintf(&b, "  %-19s %s\n", m.Name, m.Summary)
	}
	return b.String()
}

// readModel reads a model file, or one from standard input.
func (a *app) readModel(path string) (*model.Model, error) {
	if path == standardStream {
		return model.ReadFrom(a.stdin, "standard input")
	}
	return model.Read(path)
}

// openBackend opens what --backend names, and --cross-check puts together.
func openBackend(names string, crossCheck bool) (backends.ConicBackend, error) {
	flag, open := "--backend", portfolio.Open
	if crossCheck {
		flag, open = "--cross-check", portfolio.OpenCrossCheck
	}
	b, err := open(names)
	if err != nil {
		return nil, badInputf("%s: %w", flag, err)
	}
	return b, nil
}
