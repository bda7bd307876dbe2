package convex

import (
	"context"

	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/restrict/columns"
	"github.com/conetune/conetune/convex/internal/restrict/singular"
	"github.com/conetune/conetune/convex/internal/solve"
)

// Engine names a way of solving a program; [Result.Engine] says which one it was.
type Engine string

const (
	// EngineSingularVectors restricts matrices in nuclear norms to pairs of singular vectors. Where the rounds do not
	// settle, the backend has the whole program, from then on.
	EngineSingularVectors Engine = "singular-vectors"
	// EngineColumns restricts variables in 1-norms to some of their entries.
	EngineColumns Engine = "columns"
	// EngineBackend hands the whole program to the backend. It takes every program.
	EngineBackend Engine = "backend"
)

// connect chooses working sets for the program, if it has any. Small nuclear norms need none where direct is set.
func (s *Solver) connect(o SolverOptions, direct bool) {
	se, p := s.session, s.session.Program
	restricted := o.WorkingSets && singular.Takes(p, se.Capabilities) && !(direct && singular.Direct(p, se.Capabilities))
	se.Lift(restricted)
	switch {
	case restricted:
		s.restricted = EngineSingularVectors
		s.rounds = restrict.New(se, singular.New(se))
	case o.WorkingSets && len(p.Sparse) > 0 && !p.Nuclear():
		s.restricted, s.rounds = EngineColumns, restrict.New(se, columns.New(se))
	}
}

// ask solves by working sets, and where there are none or they do not settle, the whole program.
func (s *Solver) ask(ctx context.Context) (*Result, error) {
	st := &s.session.Stats
	before := *st
	for ctx.Err() == nil { // before anything is set up for nothing
		engine, solver := EngineBackend, s.session.Whole
		if s.rounds != nil {
			engine, solver = s.restricted, s.rounds.Solve
		}
		r, err := solver(ctx)
		if err != nil {
			return nil, err
		}
		if r == nil {
			s.log(ctx, "passed on", "engine", engine, "reason", "the rounds do not settle")
			s.rounds = nil
			continue
		}
		r.Rounds, r.Iterations = st.Rounds-before.Rounds, st.Iterations-before.Iterations
		s.log(ctx, "solved", "engine", engine, "status", r.Status, "rounds", r.Rounds, "iterations", r.Iterations)
		return newResult(engine, r, s.vars), nil
	}
	return newResult("", solve.Stopped(s.session.Program), s.vars), nil
}

// log writes a record at level debug.
func (s *Solver) log(ctx context.Context, message string, args ...any) {
	if l := s.session.Options.Logger; l != nil {
		l.DebugContext(ctx, "convex: "+message, args...)
	}
}
