package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/synthetic"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
)

// Application is a model with data that are made up by a seed, on which backends are compared.
type Application struct {
	// Model is the name of the model on the command line, Data that of the sizes, see [synthetic.Draw].
	Model, Data string
}

// wideNet are the data of the elastic net with most features, small those of several models.
const wideNet, small = "100-100-100-p2500", "100-100-100-p50"

// applications are all, small ones first within a model.
var applications = []Application{
	{"elastic-net", "100-100-250-p250"}, {"elastic-net", wideNet}, {"weighted-lasso", "100-100-250-p250"},
	{"sparse-group-lasso", "100-100-100-p600-m30"}, {"group-lasso", "100-100-100-p60-m20"}, {"fused-lasso", small},
	{"bounded-elastic-net", small}, {"huber", small}, {"quantile", small}, {"logistic", small}, {"poisson", small},
	{"multi-task", small}, {"matrix-completion", "60-60"}, {"svm", "300-100-p20-t3"},
}

// Build generates the data and the model.
func (a Application) Build() (problems.Model, error) {
	spec, err := model.Find(a.Model)
	if err != nil {
		return nil, err
	}
	d, err := synthetic.Draw(spec, a.Data, 1)
	if err != nil {
		return nil, err
	}
	return d.Model(spec.LogLink)
}

// workingSets says whether stages are solved with working sets on a backend: without the cone of the nuclear norm, a
// completion's subproblem is out of reach as one semidefinite program; and where second-order cones are taken by
// sequences of quadratic programs, each of these is a long one in many features.
func (a Application) workingSets(c backends.Capabilities) bool {
	return a.Model == "matrix-completion" && !c.Supports(backends.NuclearNormCone) ||
		a.Data == wideNet && len(c.BySequence) > 0
}

// Models returns the names of the models that have applications.
func Models() []string {
	var names []string
	for _, a := range applications {
		if !slices.Contains(names, a.Model) {
			names = append(names, a.Model)
		}
	}
	return names
}

// Select returns the applications of the named models, all where names is empty.
func Select(names []string) ([]Application, error) {
	for _, name := range names {
		if !slices.Contains(Models(), name) {
			return nil, fmt.Errorf("bench: unknown model %q; known are: %s", name, strings.Join(Models(), ", "))
		}
	}
	var out []Application
	for _, a := range applications {
		if len(names) == 0 || slices.Contains(names, a.Model) {
			out = append(out, a)
		}
	}
	return out, nil
}
