package dca

// Iteration records one iteration. z = (x, h) is the point at its end, unless
// said otherwise. Times are in seconds, numbers are finite.
type Iteration struct {
	// K counts from 1.
	K int `json:"k"`
	// Objective is phi_k at z; UpperValue is L, TrainValue l at z, LowerValue v(h).
	Objective  float64 `json:"objective"`
	UpperValue float64 `json:"upper_value"`
	TrainValue float64 `json:"train_value"`
	LowerValue float64 `json:"lower_value"`
	// Step is the relative step |z_{k+1} - z_k| / sqrt(1 + |z_k|^2), T the violation t,
	// Alpha the penalty with which this iteration ran.
	Step  float64 `json:"step"`
	T     float64 `json:"t"`
	Alpha float64 `json:"alpha"`
	// Gap is (l(x, h) - v(h)) / max(1, |v(h)|).
	Gap float64 `json:"gap"`
	// Distance bounds how far 0 is from the subdifferential of phi_k at a point next to
	// z, see [Result]; Bound is sqrt(2)/2 rho |z_k - z_{k-1}|, what the method allows for it. There
	// is no bound in the first iteration, where it is 0.
	Distance float64 `json:"distance"`
	Bound    float64 `json:"bound"`
	// Stationarity is the measure of [KKT] at z.
	Stationarity float64 `json:"stationarity"`
	// SubSeconds and LowerSeconds are the times of the two conic solves, the second problem
	// first, then the lower level at the new h; SubIterations and LowerIterations the solver's iterations.
	SubSeconds      float64 `json:"sub_seconds"`
	LowerSeconds    float64 `json:"lower_seconds"`
	SubIterations   int     `json:"sub_iterations"`
	LowerIterations int     `json:"lower_iterations"`
	// Searches counts the lower-level solves on top of the first, which the accelerated method needs
	// to search along the step; LowerSeconds holds their time.
	Searches int `json:"searches"`
	// Setups and Updates count what the backends did in this iteration.
	Setups  int `json:"setups"`
	Updates int `json:"updates"`
	// SubActive and LowerActive are the sizes of the final working sets, 0 without them.
	SubActive   int `json:"sub_active"`
	LowerActive int `json:"lower_active"`
	// SubEngine and LowerEngine are what solved the two, see [convex.Result], several joined by commas; empty for a lower
	// level that was solved without the conic program.
	SubEngine   string `json:"sub_engine"`
	LowerEngine string `json:"lower_engine"`
	// Residual is the largest residual of the conic programs of the two solves, on unscaled data.
	Residual float64 `json:"residual"`
	// H are the hyperparameters, Lambda the multipliers of the radii at h.
	H      []float64 `json:"h"`
	Lambda []float64 `json:"lambda"`
}
