package main

import (
	"fmt"
	"strings"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/tune"
)

// scaling says what is done to the table before the model sees it.
type scaling struct {
	standardize, intercept bool
}

// modelSpec is a model of the command line.
type modelSpec struct {
	name    string
	summary string
	build   func(*dataset.Split, scaling) (tune.Model, error)
}

// models are in the order in which they are listed.
var models = []modelSpec{
	{
		name:    "elastic-net",
		summary: "linear regression, bounds on the 1-norm and the squared 2-norm of the coefficients",
		build: func(s *dataset.Split, o scaling) (tune.Model, error) {
			return elasticnet.New(s, elasticnet.Options{Standardize: o.standardize, Intercept: o.intercept})
		},
	},
	{
		name:    "weighted-lasso",
		summary: "linear regression, a bound of its own on each coefficient",
		build: func(s *dataset.Split, o scaling) (tune.Model, error) {
			return wlasso.New(s, wlasso.Options{Standardize: o.standardize, Intercept: o.intercept})
		},
	},
}

// findModel looks a model up by name.
func findModel(name string) (modelSpec, error) {
	for _, m := range models {
		if m.name == name {
			return m, nil
		}
	}
	return modelSpec{}, badInputf("unknown model %q; known are: %s", name, strings.Join(modelNames(), ", "))
}

func modelNames() []string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.name
	}
	return names
}

// modelList describes the models, for help texts.
func modelList() string {
	var b strings.Builder
	for _, m := range models {
		fmt.Fprintf(&b, "  %-16s %s\n", m.name, m.summary)
	}
	return b.String()
}
