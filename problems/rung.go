package problems

// Rung is a step of a ladder from a model of few weights to one with a weight for each coefficient or group, see
// package tune.
type Rung struct {
	Name string
	// Models are the models of the rung, with a weight or two each, given that of the rung below with its weights and
	// its solution at these: the pilots. The first rung has none. Of several models that of least validation error
	// stands for the rung.
	Models func(below Model, lambda []float64, x [][]float64) []Model
}

// OnRung is what a model of a rung knows beyond others.
type OnRung struct {
	// Gain is by how much the mean loss of the validation rows is larger at values x of the variables, of this rung or
	// another one, than at y, and its standard error.
	Gain func(x, y [][]float64) (mean, se float64)
	// Spread are the weights of the model that the rung belongs to, at those of the rung.
	Spread func(lambda []float64) []float64
	// Used is the number of features that values of the variables use, the mean over the folds.
	Used func(x [][]float64) float64
}
