package convex

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/exchange"
	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/restrict/columns"
	"github.com/conetune/conetune/convex/internal/restrict/rows"
	"github.com/conetune/conetune/convex/internal/restrict/singular"
	"github.com/conetune/conetune/convex/internal/solve"
)

// Engine names a way of solving a program. A [Solver] has a chain of them: each solve asks them in the order below
// until one has an answer, and [Result.Engine] says which one it was.
type Engine string

const (
	// EngineExchange solves a program with hinges, whose numbers have changed a little, from the constraints that held with
	// equality before. Where these are too many others, it passes the program on.
	EngineExchange Engine = "exchange"
	// EngineSingularVectors restricts matrices in nuclear norms to pairs of singular vectors. Where the rounds do not
	// settle, it passes the program on for good.
	EngineSingularVectors Engine = "singular-vectors"
	// EngineColumns restricts variables in 1-norms to some of their entries.
	EngineColumns Engine = "columns"
	// EngineRows leaves out rows of hinges and inequalities.
	EngineRows Engine = "rows"
	// EngineBackend hands the whole program to the backend. It takes every program.
	EngineBackend Engine = "backend"
)

// Link is an engine in the chain of a solver.
type Link struct {
	Engine Engine
	// Refused says why the engine is not asked about the program; empty for one that is.
	Refused string
}

// link is one with its engine, nil if that refused.
type link struct {
	Link
	engine engine
}

// engine solves a program at the parameters' current values, or says why the next one of the chain has to.
type engine interface {
	Solve(ctx context.Context) (r *solve.Outcome, pass string, err error)
}

// learner is an engine that goes on from what those after it have found.
type learner interface {
	Learn(r *solve.Outcome)
	// Forget makes the next solve begin from nothing.
	Forget()
}

// offers make the engines of a solver for the program p, in the order of the chain, or say why they do not take it.
var offers = []struct {
	name  Engine
	offer func(s *solve.Session, p *compile.Program, o SolverOptions, small singular.Size) (e engine, refused string, err error)
}{
	{EngineExchange, offerExchange},
	{EngineSingularVectors, offerSingularVectors},
	{EngineColumns, offerColumns},
	{EngineRows, offerRows},
	{EngineBackend, offerBackend},
}

// connect makes the chain; nuclear norms of the size small need no working sets.
func (s *Solver) connect(options SolverOptions, small singular.Size) error {
	p := s.session.Program
	for _, o := range offers {
		e, refused, err := o.offer(s.session, p, options, small)
		if err != nil {
			return err
		}
		s.chain = append(s.chain, link{Link{o.name, refused}, e})
	}
	return nil
}

const withoutSets = "SolverOptions.WorkingSets is off"

// refusal is why exchanges and working sets of columns and rows do not take p, where some says that there are the parts that they are for.
func (o *SolverOptions) refusal(p *compile.Program, some bool, parts string) string {
	switch {
	case !o.WorkingSets:
		return withoutSets
	case p.Nuclear():
		return "there are nuclear norms"
	case !some:
		return "there are no " + parts
	}
	return ""
}

func offerExchange(s *solve.Session, p *compile.Program, o SolverOptions, _ singular.Size) (engine, string, error) {
	why := o.refusal(p, len(p.Kinks) > 0, "hinges with fixed weights")
	if why == "" && o.ColdStart {
		why = "SolverOptions.ColdStart is on"
	}
	if why != "" {
		return nil, why, nil
	}
	e := exchange.New(s)
	if e.Users > exchange.MostVariables {
		return nil, fmt.Sprintf("there are %d variables, more than %d", e.Users, exchange.MostVariables), nil
	}
	return e, "", nil
}

func offerSingularVectors(s *solve.Session, p *compile.Program, o SolverOptions, small singular.Size) (engine, string, error) {
	why := ""
	switch {
	case !p.Nuclear():
		why = "there are no nuclear norms"
	case !o.WorkingSets:
		why = withoutSets
	case len(p.Matrices) == 0:
		why = "no nuclear norm is of a whole variable"
	case singular.Direct(p, s.Capabilities, small):
		why = "the matrices are small"
	}
	s.Lift(why == "")
	if why != "" {
		return nil, why, nil
	}
	return restrict.New(s, singular.New(s, singular.Direct(p, s.Capabilities, singular.SecondSize))), "", nil
}

func offerColumns(s *solve.Session, p *compile.Program, o SolverOptions, _ singular.Size) (engine, string, error) {
	if why := o.refusal(p, len(p.Sparse) > 0, "1-norms of whole variables"); why != "" {
		return nil, why, nil
	}
	guess := make(map[*affine.Variable][]int)
	for v, list := range o.Active {
		guess[v.v] = list
	}
	w, err := columns.New(s, guess)
	return restrict.New(s, w), "", err
}

func offerRows(s *solve.Session, p *compile.Program, o SolverOptions, _ singular.Size) (engine, string, error) {
	if why := o.refusal(p, len(p.Hinges) > 0, "long sums of hinges with fixed weights"); why != "" {
		return nil, why, nil
	}
	return restrict.New(s, rows.New(s)), "", nil
}

func offerBackend(s *solve.Session, _ *compile.Program, _ SolverOptions, _ singular.Size) (engine, string, error) {
	return whole{s}, "", nil
}

// Chain returns all engines in the order in which they are asked, with the reasons why some are not.
func (s *Solver) Chain() []Link {
	out := make([]Link, len(s.chain))
	for i, l := range s.chain {
		out[i] = l.Link
	}
	return out
}

// ask goes along the chain to the first engine that has a result, from which those before it learn.
func (s *Solver) ask(ctx context.Context) (*Result, error) {
	st := &s.session.Stats
	before := *st
	for k, l := range s.chain {
		if l.engine == nil {
			continue
		}
		if ctx.Err() != nil { // before anything is set up for nothing
			break
		}
		r, pass, err := l.engine.Solve(ctx)
		if err != nil {
			return nil, err
		}
		if r == nil {
			s.log(ctx, "passed on", "engine", l.Engine, "reason", pass)
			continue
		}
		r.Rounds, r.Iterations = st.Rounds-before.Rounds, st.Iterations-before.Iterations
		s.log(ctx, "solved", "engine", l.Engine, "status", r.Status, "rounds", r.Rounds, "iterations", r.Iterations)
		for _, earlier := range s.chain[:k] {
			if e, ok := earlier.engine.(learner); ok {
				e.Learn(r)
			}
		}
		return newResult(l.Engine, r, s.vars), nil
	}
	return newResult("", solve.Stopped(s.session.Program), s.vars), nil
}

// log writes a record at level debug.
func (s *Solver) log(ctx context.Context, message string, args ...any) {
	if l := s.session.Options.Logger; l != nil {
		l.DebugContext(ctx, "convex: "+message, args...)
	}
}

// whole hands the full program to the backend.
type whole struct{ *solve.Session }

func (s whole) Solve(ctx context.Context) (*solve.Outcome, string, error) {
	r, err := s.Whole(ctx)
	return r, "", err
}
