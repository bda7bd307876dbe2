package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/synthetic"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
)

// Application is a model with data that are made up by a seed, on which backends are compared.
type Application struct {
	// Model is the name of the model on the command line, Data that of the sizes, see [synthetic.Draw].
	Model, Data string
	// Build generates the data and the model.
	Build func() (problems.Model, error)
}

// lowRank says that the stages are solved with working sets on backends without the cone of the nuclear norm: as one
// semidefinite program, the subproblem of a matrix completion is out of reach.
func (a *Application) lowRank() bool { return a.Model == "matrix-completion" }

// wide says that the stages are solved with working sets on backends that take second-order cones by sequences of
// quadratic programs: in many features each of these is a long one.
func (a *Application) wide() bool { return a.Data == wideNet }

// wideNet are the data of the elastic net with most features.
const wideNet = "100-100-100-p2500"

// applications returns all applications, small ones first within a model.
func applications() []Application {
	const small = "100-100-100-p50"
	var list []Application
	for _, of := range [][2]string{
		{"elastic-net", "100-100-250-p250"}, {"elastic-net", wideNet}, {"weighted-lasso", "100-100-250-p250"},
		{"sparse-group-lasso", "100-100-100-p600-m30"}, {"group-lasso", "100-100-100-p60-m20"}, {"fused-lasso", small},
		{"bounded-elastic-net", small}, {"huber", small}, {"quantile", small}, {"logistic", small}, {"poisson", small},
		{"multi-task", small}, {"matrix-completion", "60-60"}, {"svm", "300-100-p20-t3"},
	} {
		list = append(list, Application{of[0], of[1], func() (problems.Model, error) {
			spec, err := model.Find(of[0])
			if err != nil {
				return nil, err
			}
			d, err := synthetic.Draw(spec, of[1], 1)
			if err != nil {
				return nil, err
			}
			return d.Model(spec.LogLink)
		}})
	}
	return list
}

// Models returns the names of the models that have applications.
func Models() []string {
	var names []string
	for _, a := range applications() {
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
	for _, a := range applications() {
		if len(names) == 0 || slices.Contains(names, a.Model) {
			out = append(out, a)
		}
	}
	return out, nil
}
