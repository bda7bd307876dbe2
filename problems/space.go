package problems

// Axis is one direction of a search over hyperparameters, on a logarithmic scale.
type Axis struct {
	// Name is that of the hyperparameter, or of the kind where it stands for several.
	Name string
	// Members are the indices of the hyperparameters that all take the value: in h = (lambda, u), with one
	// weight lambda for each radius of the program, followed by its upper variables.
	Members []int
	// Low and High bound the values, 0 < Low <= High.
	Low, High float64
}
