package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/portfolio"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/tune"
)

// FindModel looks a model up by name.
func FindModel(name string) (model.Spec, error) {
	spec, err := model.Find(name)
	if err != nil {
		return spec, BadInputf("unknown model %q%s; known are: %s", name, DidYouMean(name, model.Names()),
			words.Joined(model.Names()))
	}
	return spec, nil
}

// SayWhich adds to the error of a method that cannot do a model which ones it can.
func SayWhich(err error) error {
	if unable, ok := errors.AsType[*tune.UnableError](err); ok {
		able := model.Able(unable.Method)
		if slices.Contains(able, unable.Model) {
			return fmt.Errorf("%w, which there is for groups that do not overlap", err)
		}
		return fmt.Errorf("%w, which there is for %s", err, words.Joined(able))
	}
	return err
}

// ModelList describes the models, for help texts.
func ModelList() string {
	var b strings.Builder
	for _, m := range model.Specs() {
		fmt.Fprintf(&b, "  %-19s %s\n", m.Name, m.Summary)
	}
	return b.String()
}

// ReadModel reads a model file, or one from standard input.
func (a *App) ReadModel(path string) (*model.Model, error) {
	if path == StandardStream {
		return model.ReadFrom(a.Stdin, "standard input")
	}
	return model.Read(path)
}

// OpenBackend opens what --backend names, and --cross-check puts together.
func OpenBackend(names string, crossCheck bool) (backends.ConicBackend, error) {
	flag, open := "--backend", portfolio.Open
	if crossCheck {
		flag, open = "--cross-check", portfolio.OpenCrossCheck
	}
	b, err := open(names)
	if err != nil {
		return nil, BadInputf("%s: %w", flag, err)
	}
	return b, nil
}
