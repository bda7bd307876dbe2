package problems

// Advice is what a model says to the methods that look for its hyperparameters, other than VF-iDCA. The zero value says nothing.
type Advice struct {
	// Each says that searches give each hyperparameter a value of its own by default; else those of a kind have one in common.
	Each bool
	// Paper is what they do with the paper's preset.
	Paper Paper
}

// Paper are the settings of searches and of descents along the gradient of the validation error in the experiments of the paper (Gao, Ye, Yin, Zeng, Zhang,
// ICML 2022, Supplement C). What is zero or nil is the method's own.
type Paper struct {
	// Weights bounds the weights of the penalties in searches, Upper the upper variables. Parzen is in the place of Weights for trees of
	// Parzen estimators.
	Weights, Upper, Parzen Span
	// Common says that the hyperparameters of a kind have one value in searches; else each has its own.
	Common bool
	// ParzenEach, if positive, is the number of evaluations of a tree of Parzen estimators, which then gives each hyperparameter its
	// own value in spite of Common.
	ParzenEach int
	// Untried says that the paper has no descents on the model. They are then those without the preset.
	Untried bool
	// Start is the value of all weights from which descents start.
	Start float64
	// IGJO are the steps of that method, IFDM those of the other.
	IGJO *IGJO
	IFDM *Normalised
}

// Span is a range of positive values.
type Span struct{ Low, High float64 }

// IGJO is that method as the program of Feng and Simon has it: where it starts, how many steps it takes at most, and which.
type IGJO struct {
	Start   float64
	MaxIter int
	Steps   Backtracking
}

// Backtracking has the fields of the type of that name of package hypergradient, in the unit of the model's weights.
type Backtracking struct{ First, Shrink, Least, Share, Enough, Floor float64 }

// Normalised has the fields of the type of that name of package hypergradient.
type Normalised struct {
	Length, Shrink float64
	Free           int
}
