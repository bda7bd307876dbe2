package regression

import "github.com/conetune/conetune/problems/dataset"

// multiplied takes rows in the unit of the model, with their weights, and multiplies their features by what the rows for training say, if the options ask for that.
func (d *Data) multiplied(fit, choose, user *dataset.Data) (part, error) {
	if d.kind.Multipliers == nil {
		return d.newPart(fit, choose, user), nil
	}
	m, err := d.kind.Multipliers(fit, d.options.Intercept)
	if err != nil {
		return part{}, err
	}
	by := &dataset.Transform{Mean: make([]float64, len(m)), Scale: make([]float64, len(m))}
	for j, v := range m {
		by.Scale[j] = 1 / v // infinite for 0
	}
	out := d.newPart(by.Apply(fit), by.Apply(choose), user)
	out.multipliers, out.plainFit, out.plainChoose = m, fit, choose
	return out, nil
}
