package scs

import (
	"time"

	"github.com/conetune/conetune/internal/mirror"
)

// Data is a ScsData: minimise 1/2 x'Px + c'x subject to Ax + s = b, s in K.
type Data struct {
	A *mirror.Matrix
	P *mirror.Matrix // upper triangle; nil means zero
	B []float64
	C []float64
}

// Cone is a ScsCone. The rows of A come in the order of its fields.
type Cone struct {
	Zero        int       // equations
	Nonnegative int       // rows with s >= 0
	Box         *Box      // nil for none
	SecondOrder []int     // dimensions
	PSD         []int     // orders of the matrices
	Exponential int       // number of cones of dimension 3
	DualExp     int       // number of cones of dimension 3
	Power       []float64 // exponents, one a cone of dimension 3; negative for the dual
	Nuclear     []Size    // matrices below a bound of their nuclear norm; see HasNuclear
}

// Size is that of the matrix X in the cone {(t, X): |X|_* <= t}, whose rows are t
// and then X by columns. SCS wants Rows >= Cols.
type Size struct {
	Rows, Cols int
}

// NuclearSizes returns the rows and the columns of Nuclear.
func (k *Cone) NuclearSizes() (rows, cols []int) {
	for _, size := range k.Nuclear {
		rows, cols = append(rows, size.Rows), append(cols, size.Cols)
	}
	return rows, cols
}

// Box is the cone {(t, s): t Lower <= s <= t Upper, t >= 0}, whose first row is t.
type Box struct {
	Lower, Upper []float64
}

// Settings are those of a ScsSettings that this project changes. The others, and what is zero, have SCS's defaults.
type Settings struct {
	NoNormalize          bool
	Scale                float64
	NoAdaptiveScale      bool
	NoAdaptiveDiagScale  bool
	RhoX                 float64
	MaxIters             int
	EpsAbs, EpsRel       float64
	EpsInfeas            float64
	Alpha                float64
	TimeLimit            time.Duration // 0 means none
	AccelerationLookback int           // negative for none
	AccelerationInterval int
	AccelerationType2    bool
}

// Solution is a ScsSolution: x, y and s of lengths n, m and m.
type Solution struct {
	X, Y, S []float64
}

// Status is an exit flag of scs_solve.
type Status int

// The exit flags.
const (
	InfeasibleInaccurate Status = -7
	UnboundedInaccurate  Status = -6
	SigInt               Status = -5
	Failed               Status = -4
	Infeasible           Status = -2
	Unbounded            Status = -1
	Solved               Status = 1
	SolvedInaccurate     Status = 2
)

// Info is what is asked of a ScsInfo.
type Info struct {
	Status                            Status
	Text                              string // in the words of SCS
	Iterations                        int
	Scale                             float64
	PrimalResidual, DualResidual, Gap float64
	SetupTime, SolveTime              time.Duration
}
