package main

import (
	"fmt"

	"github.com/conetune/conetune/model"
)

// readModel reads a model file, which must be that of a model of the command line, with what such a model has.
func (a *app) readModel(path string) (m *model.Model, err error) {
	if path == standardStream {
		path = "standard input"
		m, err = model.ReadFrom(a.stdin, path, modelNames())
	} else {
		m, err = model.Read(path, modelNames())
	}
	if err != nil {
		return nil, err
	}
	spec, err := findModel(m.Model)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name        string
		has, should bool
	}{
		{"labels", m.Labels != nil, spec.labels}, {"log_link", m.LogLink, spec.logLink}, {"targets", m.Targets != nil, spec.several != nil || spec.classes}, {"matrix", m.Matrix != nil, spec.matrix != nil},
	} {
		switch {
		case part.should && !part.has:
			return nil, fmt.Errorf("%s: field %q is missing: the model is %s", path, part.name, m.Model)
		case part.has && !part.should:
			return nil, fmt.Errorf("%s: field %q does not belong to a model of %s", path, part.name, m.Model)
		}
	}
	return m, checkLoss(path, spec, m)
}

// lossKinds are the losses of models, by name.
var lossKinds = map[string]string{"huber": model.Huber, "quantile": model.Pinball, "logistic": model.Logistic, "svm": model.Hinge, "multinomial": model.Multinomial, "cox": model.Cox}

// checkLoss rejects the loss of another model, and gives a classifier its own, which files did not have once; those of huber and quantile need a number.
func checkLoss(path string, spec modelSpec, m *model.Model) error {
	kind := lossKinds[spec.name]
	switch {
	case m.Loss == nil && spec.survival:
		return fmt.Errorf("%s: field \"loss\" is missing: the model is %s", path, m.Model)
	case m.Loss == nil && m.Labels != nil:
		m.Loss = &model.Loss{Kind: kind}
	case m.Loss != nil && m.Loss.Kind != kind:
		return fmt.Errorf("%s: field \"loss\": %q does not belong to a model of %s", path, m.Loss.Kind, m.Model)
	}
	return nil
}
