package paper

import "fmt"

// Schema is the version of the form of [Record] and [Manifest]. It changes when a field changes its meaning or goes; a
// reader must take fields that it does not know.
const Schema = 1

// Item is one piece of work: a method with a backend on the data of a row, drawn by a seed. All names are those of
// [Tables] and [Methods], in lower case.
type Item struct {
	// Table and Row are the names of a table and of one of its rows, such as "en" and "100-20-250-p250".
	Table string `json:"table"`
	Row   string `json:"row"`
	// Method is the name of a method of [Methods]: that of package tune with the settings of the paper, or
	// [OurDefaults] or [GapClosed], which are VF-iDCA with ours.
	Method string `json:"method"`
	// Backend is the conic solver. Methods that need none have it all the same.
	Backend string `json:"backend"`
	// Seed draws the data, or the split of real data, and what the method draws. Seeds count from 1.
	Seed uint64 `json:"seed"`
}

// String names the item in messages.
func (i Item) String() string {
	return fmt.Sprintf("%s %s, %s on %s, seed %d", i.Table, i.Row, i.Method, i.Backend, i.Seed)
}

// Errors are the errors of one vector of coefficients. An entry is nil where there is no such number: the
// validation error of a failed run, for example. No entry is infinite or not a number.
type Errors struct {
	Validation *float64 `json:"validation"`
	Test       *float64 `json:"test"`
}

// Record is what became of an item, one line of results.jsonl.
type Record struct {
	Schema int `json:"schema"`
	Item
	// Version is that of the program. Settings says with which numbers the item ran, as far as they are not fixed by
	// the names in Item: records with other Settings must not be put into one table.
	Version  string `json:"version"`
	Settings string `json:"settings"`
	// Status is that of package dca: "converged", "iteration_limit", "inaccurate", .., or "failed" where the run ended
	// with an error. Message may say more.
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	// Seconds is the wall time of everything after the data are in memory: building the programs, all
	// solves, scoring, the refit. Only the times differ between two runs of an item.
	Seconds float64 `json:"seconds"`
	// CPU is the processor time that the process used during the item, in seconds. On a machine that does other work it
	// tells more than Seconds. It is known with one worker only, and 0 otherwise.
	CPU float64 `json:"cpu_seconds,omitempty"`
	// Iterations counts those of VF-iDCA, or the evaluations of a search or a descent.
	Iterations int `json:"iterations"`
	// Iterate are the errors of the last iterate, as in the paper; Refit are those of the solution of the lower level at
	// the selected hyperparameters. They agree for methods that only look at such solutions.
	Iterate Errors `json:"iterate"`
	Refit   Errors `json:"refit"`
	// Deployed is the test error of the model that conetune tune would save, trained once more on training and validation
	// rows together. It is there only for [OurDefaults] and [GapClosed].
	Deployed *float64 `json:"deployed,omitempty"`
	// Gap is (l(x) - v(r)) / max(1, |v(r)|) of the iterate, nil for methods that only look at solutions.
	Gap *float64 `json:"gap"`
	// Hyperparameters are the weights lambda of the penalties, in the order of the model, then the upper variables.
	// Dimension is how many of them the method chooses apart: fewer where it gives all of a kind the same value.
	Hyperparameters []float64 `json:"hyperparameters"`
	Dimension       int       `json:"dimension"`
	// Trace is what had been reached when, in the order of time, at most [TracePoints] points. The last point is at
	// the end of the run.
	Trace []Point `json:"trace"`
}

// TracePoints bounds the length of a trace. Longer ones are thinned out: first and last stay, and of a search every
// improvement as far as there is room.
const TracePoints = 60

// Point is one point of a trace.
type Point struct {
	// Seconds is the time since the start of the run.
	Seconds float64 `json:"s"`
	// Iteration counts from 1, as in Record.Iterations.
	Iteration int `json:"k"`
	// Iterate are the errors of the iterate of VF-iDCA. For other methods they are those of the best solution so far,
	// as Best.
	Iterate Errors `json:"iterate"`
	// Best are the errors of the solution of the lower level with the least validation error so far.
	Best Errors `json:"best"`
	// Alpha is the penalty parameter of VF-iDCA with which the iteration ran, 0 for other methods.
	Alpha float64 `json:"alpha,omitempty"`
}

// Plan is the work to do. Two equal plans have the same list of items.
type Plan struct {
	// Tables, Methods and Backends are names, in the order of the tables that are made.
	Tables   []string `json:"tables"`
	Methods  []string `json:"methods"`
	Backends []string `json:"backends"`
	// Repeats is the number of seeds, which are 1, 2, .., Repeats.
	Repeats int `json:"repeats"`
	// Skipped are rows of the tables that cannot be run here, with the reason.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is a row that was left out.
type Skipped struct {
	Table  string `json:"table"`
	Row    string `json:"row"`
	Reason string `json:"reason"`
}
