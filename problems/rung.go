package problems

// Rung is a step of a ladder from a model of few weights to one with a weight for each coefficient or group, see
// package tune.
type Rung struct {
	Name string
	// Models are the models of the rung, with a weight or two each, given that of the rung below with its weights and
	// its solution at these: the pilots. The first rung has none. Of several models that of least validation error
	// stands for the rung.
	Models func(below Bilevel, lambda []float64, x [][]float64) []Bilevel
}
