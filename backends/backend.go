package backends

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/internal/memory"
)

// ConicBackend makes solvers for conic programs. It is safe for use by many goroutines at once. Backends are used
// through [Open] or [Checked], which validate all that they are given, refuse calls after Close, and keep the times of
// a Solution: a backend's own solvers leave these to them.
type ConicBackend interface {
	// Name is the name under which the backend is registered.
	Name() string
	// Capabilities declares what the backend can do.
	Capabilities() Capabilities
	// Setup prepares a solver for p. The solver keeps references to the
	// matrices and vectors of p, which the caller must not change until Close;
	// new numbers go through Solver.Update. The error is a [*ProblemError], an
	// [*UnsupportedError], or a failure of the backend itself.
	Setup(p *Problem, o Options) (Solver, error)
}

// Solver solves one problem, repeatedly if wished. It is for one goroutine at a
// time; many solvers can run side by side.
type Solver interface {
	// Solve runs to the end, to a limit of the options, or until the context
	// ends. The error is for misuse and for broken backends; what the
	// solver found is in the status.
	Solve(ctx context.Context) (*Solution, error)
	// Update changes numbers of the problem. On an error nothing has changed.
	Update(u Update) error
	// WarmStart gives the next Solve a starting point. A backend that cannot
	// use it ignores it.
	WarmStart(p Point) error
	// Close frees what the solver holds. Further calls of Close do nothing,
	// calls of other methods return [ErrClosed].
	Close() error
}

// Tightener is implemented by solvers whose tolerance can change between
// solves. All solvers of [Open] implement it.
type Tightener interface {
	// SetEps changes Options.Eps for the solves to come. If the numbers stay the
	// same and no WarmStart comes between, the next Solve goes on from where the
	// last one ended, as far as the backend can.
	SetEps(eps float64) error
}

// Filler is implemented by solvers that solve again and again in the memory of one solution. All solvers of [Open]
// implement it. Where a program is solved at once, the native backend allocates nothing then.
type Filler interface {
	// SolveInto is Solve for a solution of the caller's, whose X, S and Z are overwritten where they are long enough.
	// After an error it says nothing.
	SolveInto(ctx context.Context, out *Solution) error
}

// Update holds new values; nil fields stay as they are. P and A must have the
// sparsity pattern of the problem. Solvers of [Open] copy what they need, so that the
// caller may change or reuse the arrays afterwards; a backend's own may refer to P and A, which
// stay as they are until the next Update of them.
type Update struct {
	P *sparse.CSC
	Q []float64
	A *sparse.CSC
	B []float64
}

// Point is a primal-dual point; nil fields are unknown. The solver copies it.
type Point struct {
	X, S, Z []float64
}

// Copy returns a copy of another point in the memory of p, as far as that goes. Parts that are nil stay nil.
func (p Point) Copy(of Point) Point {
	copied := func(to, v []float64) []float64 {
		if v == nil || to == nil {
			return slices.Clone(v)
		}
		return append(to[:0], v...)
	}
	return Point{X: copied(p.X, of.X), S: copied(p.S, of.S), Z: copied(p.Z, of.Z)}
}

// Capabilities declares what a backend can do.
type Capabilities struct {
	Version string
	License string
	// Cones are the cones that Setup takes.
	Cones []ConeKind
	// BySequence are those of Cones that take a sequence of programs, by the method of multipliers (package augmented), so
	// that a form of a problem without them is the cheaper one.
	BySequence []ConeKind
	// Quadratic says whether P may be nonzero.
	Quadratic bool
	// UpdateVectors and UpdateMatrices say which updates reuse earlier work; the
	// others are accepted and set up again.
	UpdateVectors, UpdateMatrices bool
	WarmStart, Certificates       bool
	// Threads says that [Options.Threads] counts.
	Threads bool
	// FirstOrder says that the method has many cheap iterations, and may stall above tight tolerances, and MatrixFree that
	// it factors nothing.
	FirstOrder, MatrixFree bool
	// Presolves says that the backend finds rows and columns that need no solver itself, so that [Open] hands problems on
	// as they are, as with [Options.NoPresolve]: left out by us they would only change the order in which it finds the
	// others.
	Presolves bool
}

// Supports says whether the backend takes the cone.
func (c Capabilities) Supports(k ConeKind) bool { return slices.Contains(c.Cones, k) }

// Unsupported returns an [*UnsupportedError] for the first thing of p that a backend with these capabilities, of that
// name, does not take, and nil where it takes all.
func (c Capabilities) Unsupported(name string, p *Problem) error {
	if p == nil {
		return bad("Problem", "is nil")
	}
	for _, cone := range p.Cones {
		if cone.Dim > 0 && !c.Supports(cone.Kind) {
			return &UnsupportedError{name, "the " + cone.Kind.String() + " cone",
				supporting(func(o Capabilities) bool { return o.Supports(cone.Kind) })}
		}
	}
	if !c.Quadratic && p.Quadratic() {
		return &UnsupportedError{name, "a quadratic objective", supporting(func(o Capabilities) bool { return o.Quadratic })}
	}
	return nil
}

// Options are understood by every backend. The zero value asks for the defaults.
type Options struct {
	// Eps bounds the three Residuals of an optimal point. Default 1e-8.
	Eps float64
	// EpsInfeasible bounds the residual of a certificate of infeasibility, which excludes all
	// points up to its reciprocal times the sizes that the data suggest. Default Eps, at most 1e-10: programs
	// whose solutions are 1e10 times as large as their data are not told to have none.
	EpsInfeasible float64
	// MaxIterations bounds the iterations; 0 leaves the backend's default.
	MaxIterations int
	// TimeLimit bounds the time of one Solve, with the work of a Setup or Update that is left to it; 0 means none.
	TimeLimit time.Duration
	// Threads bounds the threads of one Solve; 0 means 1. The native backend, which takes no more than GOMAXPROCS, shares
	// factorisations, Schur complements and directions of large programs, and pdhg its products with the matrices, with
	// the same result to the bit.
	Threads int
	// Memory bounds the bytes that one Setup and Solve take; 0 means no bound. What would need more
	// ends with a [*MemoryError]. The native backend keeps to it.
	Memory int64
	// NoPresolve hands the problem on with the rows and columns that need no solver: empty ones, variables that one row
	// fixes and, in linear programs, what other rows imply or determine, where an update may set up again. What
	// contradicts itself in one row is told without it, too.
	NoPresolve bool
	// Logger gets one record an iteration at level debug, and from backends that try several methods one an attempt; nil
	// means silence. A handler may keep them, and end the context of the solve.
	Logger *slog.Logger
	// History keeps the iterations in [Solution.History]; the native backend has some.
	History bool
	// Settings are the backend's own settings, of a type that it documents.
	Settings any

	judge func(*Problem) *Judge // see Judge
}

// SettingsOf returns Options.Settings of a backend whose own are of type T, its zero value where they are nil.
func SettingsOf[T any](o Options, backend string) (set T, err error) {
	switch v := o.Settings.(type) {
	case nil:
	case T:
		set = v
	default:
		err = bad("Options.Settings", "is a %T, the %s backend takes %T", v, backend, set)
	}
	return set, err
}

// Judge returns a judge for a solver to use within Solve, of its problem p, which shares with that of [Open] what
// need not be found twice. It holds until the next Update.
func (o Options) Judge(p *Problem) *Judge {
	if o.judge != nil {
		return o.judge(p)
	}
	return NewJudge(p)
}

const (
	// farSolutions is the reciprocal of how much larger than the data suggest solutions may be.
	farSolutions = 1e-10
	// nearCertificate is the residual with which a vector is worth being made a certificate of.
	nearCertificate = 1e-6
)

// ClaimEps is the tolerance at which a first-order method shows its first certificate. What comes near one is made one
// that holds by the judge, better than by its iterations, and one that does not hold is asked for again at a tighter
// one.
func (o Options) ClaimEps() float64 { return max(o.EpsInfeasible, nearCertificate) }

// WithDefaults returns o with the documented defaults in place of zero values.
func (o Options) WithDefaults() Options {
	if o.Eps == 0 {
		o.Eps = 1e-8
	}
	if o.EpsInfeasible == 0 {
		o.EpsInfeasible = min(o.Eps, farSolutions)
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	return o
}

// Validate rejects negative tolerances, limits and counts.
func (o Options) Validate() error {
	for _, c := range []struct {
		field string
		ok    bool
		value any
	}{
		{"Eps", o.Eps >= 0, o.Eps}, {"EpsInfeasible", o.EpsInfeasible >= 0, o.EpsInfeasible},
		{"MaxIterations", o.MaxIterations >= 0, o.MaxIterations}, {"TimeLimit", o.TimeLimit >= 0, o.TimeLimit},
		{"Threads", o.Threads >= 0, o.Threads},
		{"Memory", o.Memory >= 0, o.Memory},
	} {
		if !c.ok {
			return bad("Options."+c.field, "%v is negative or not a number", c.value)
		}
	}
	return nil
}

// ErrClosed is returned by the methods of a solver after Close.
var ErrClosed = errors.New("backends: solver is closed")

// ErrBusy is returned when a solver is used by two goroutines at once.
var ErrBusy = errors.New("backends: solver is in use by another goroutine")

// UnsupportedError says what a backend cannot do, and which ones can.
type UnsupportedError struct {
	Backend string
	Feature string // for example "the psd cone"
	Others  []string
}

func (e *UnsupportedError) Error() string {
	msg := fmt.Sprintf("backends: %s does not support %s", e.Backend, e.Feature)
	if len(e.Others) > 0 {
		msg += "; these do: " + strings.Join(e.Others, ", ")
	}
	return msg
}

// MemoryError says that a problem needs more memory than Options.Memory allows. It is
// returned, by Setup or Solve, before that memory is allocated.
type MemoryError struct {
	Need, Limit int64  // bytes; Need is what is known by then, the whole may need more
	What        string // what the last of it is for, such as "the factors of the Newton systems"
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("backends: %s would take the memory of this problem to %s, and %s are allowed", e.What,
		memory.Format(e.Need), memory.Format(e.Limit))
}
