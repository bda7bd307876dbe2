package convex

import (
	"cmp"
	"context"
	"fmt"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/exchange"
	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/restrict/columns"
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

// connect makes the chain: all engines in the order in which they are asked, or why they do not take the program. Nuclear norms up
// to the size small need no working sets.
func (s *Solver) connect(o SolverOptions, small singular.Size) (err error) {
	se, p := s.session, s.session.Program
	add := func(name Engine, refused string, offer func() engine) {
		l := link{Link: Link{name, refused}}
		if refused == "" {
			l.engine = offer()
		}
		s.chain = append(s.chain, l)
	}
	when := func(refused bool, why string) string {
		if refused {
			return why
		}
		return ""
	}
	off := when(!o.WorkingSets, "SolverOptions.WorkingSets is off")
	without := func(some bool, parts string) string {
		return cmp.Or(off, when(p.Nuclear(), "there are nuclear norms"), when(!some, "there are no "+parts))
	}

	e := exchange.New(se)
	add(EngineExchange, cmp.Or(without(len(p.Kinks) > 0, "hinges with fixed weights"), when(o.ColdStart, "SolverOptions.ColdStart is on"),
		when(e.Users > exchange.MostVariables, fmt.Sprintf("there are %d variables, more than %d", e.Users, exchange.MostVariables))),
		func() engine { return e })

	refused := cmp.Or(when(!p.Nuclear(), "there are no nuclear norms"), off, when(len(p.Matrices) == 0, "no nuclear norm is of a whole variable"),
		when(singular.Direct(p, se.Capabilities, small), "the matrices are small"))
	se.Lift(refused == "")
	add(EngineSingularVectors, refused, func() engine {
		return restrict.New(se, singular.New(se, singular.Direct(p, se.Capabilities, singular.SecondSize)))
	})

	add(EngineColumns, without(len(p.Sparse) > 0, "1-norms of whole variables"), func() engine {
		guess := make(map[*affine.Variable][]int)
		for v, list := range o.Active {
			guess[v.v] = list
		}
		var w *columns.Sets
		w, err = columns.New(se, guess)
		return restrict.New(se, w)
	})

	add(EngineBackend, "", func() engine { return whole{se} })
	return err
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
