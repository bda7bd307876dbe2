package convex

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/backends"
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
	solve(ctx context.Context) (r *Result, pass string, err error)
}

// learner is an engine that goes on from what those after it have found.
type learner interface {
	learn(r *Result)
	// forget makes the next solve begin from nothing.
	forget()
}

// offers make the engines of a solver for the program p, in the order of the chain, or say why they do not take it.
var offers = []struct {
	name  Engine
	offer func(s *Solver, p *Program) (e engine, refused string, err error)
}{
	{EngineExchange, offerExchange},
	{EngineSingularVectors, offerSingularVectors},
	{EngineColumns, offerColumns},
	{EngineRows, offerRows},
	{EngineBackend, offerBackend},
}

// connect makes the chain.
func (s *Solver) connect() error {
	p := s.prog
	for _, o := range offers {
		e, refused, err := o.offer(s, p)
		if err != nil {
			return err
		}
		s.chain = append(s.chain, link{Link{o.name, refused}, e})
	}
	return nil
}

const withoutSets = "SolverOptions.WorkingSets is off"

// refusal is why exchanges and working sets of columns and rows do not take p, where some says that there are the parts that they are for.
func (s *Solver) refusal(p *Program, some bool, parts string) string {
	switch {
	case !s.options.WorkingSets:
		return withoutSets
	case p.nuclear():
		return "there are nuclear norms"
	case !some:
		return "there are no " + parts
	}
	return ""
}

func offerExchange(s *Solver, p *Program) (engine, string, error) {
	why := s.refusal(p, len(p.kinks) > 0, "hinges with fixed weights")
	if why == "" && s.options.ColdStart {
		why = "SolverOptions.ColdStart is on"
	}
	if why != "" {
		return nil, why, nil
	}
	e := newExchanger(s)
	if e.users > mostVariables {
		return nil, fmt.Sprintf("there are %d variables, more than %d", e.users, mostVariables), nil
	}
	return e, "", nil
}

func offerSingularVectors(s *Solver, p *Program) (engine, string, error) {
	why := ""
	switch {
	case !p.nuclear():
		why = "there are no nuclear norms"
	case !s.options.WorkingSets:
		why = withoutSets
	case len(p.matrices) == 0:
		why = "no nuclear norm is of a whole variable"
	case p.direct(s.capabilities, s.small):
		why = "the matrices are small"
	}
	s.lift(why == "")
	if why != "" {
		return nil, why, nil
	}
	return &rounds{s, newMatrixSets(s, p.direct(s.capabilities, secondSize))}, "", nil
}

func offerColumns(s *Solver, p *Program) (engine, string, error) {
	if why := s.refusal(p, len(p.sparse) > 0, "1-norms of whole variables"); why != "" {
		return nil, why, nil
	}
	w := newColumnSets(s)
	return &rounds{s, w}, "", w.hint(s.options.Active)
}

func offerRows(s *Solver, p *Program) (engine, string, error) {
	if why := s.refusal(p, len(p.hinges) > 0, "long sums of hinges with fixed weights"); why != "" {
		return nil, why, nil
	}
	return &rounds{s, newRowSets(s)}, "", nil
}

func offerBackend(s *Solver, _ *Program) (engine, string, error) { return whole{s}, "", nil }

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
	before := s.stats
	for k, l := range s.chain {
		if l.engine == nil {
			continue
		}
		if ctx.Err() != nil { // before anything is set up for nothing
			break
		}
		r, pass, err := l.engine.solve(ctx)
		if err != nil {
			return nil, err
		}
		if r == nil {
			s.log(ctx, "passed on", "engine", l.Engine, "reason", pass)
			continue
		}
		r.Engine, r.Rounds, r.Iterations = l.Engine, s.stats.Rounds-before.Rounds, s.stats.Iterations-before.Iterations
		s.log(ctx, "solved", "engine", r.Engine, "status", r.Status, "rounds", r.Rounds, "iterations", r.Iterations)
		for _, earlier := range s.chain[:k] {
			if e, ok := earlier.engine.(learner); ok {
				e.learn(r)
			}
		}
		return r, nil
	}
	return s.stopped(), nil
}

// log writes a record at level debug.
func (s *Solver) log(ctx context.Context, message string, args ...any) {
	if l := s.options.Options.Logger; l != nil {
		l.DebugContext(ctx, "convex: "+message, args...)
	}
}

// whole hands the full program to the backend.
type whole struct{ *Solver }

func (s whole) solve(ctx context.Context) (*Result, string, error) {
	start := func(to, from *instance) backends.Point { return to.start(from, nil) }
	sol, err := s.run(ctx, task{s.prog, nil, start}, s.eps)
	if err != nil {
		return nil, "", err
	}
	s.stats.Rounds++
	r := s.result(sol)
	if hasPoint(sol) {
		r.dual, _ = s.current.stationarity(sol.X, sol.Z)
	}
	return r, "", nil
}
