package planted

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
)

// Relations is the mode that asks for the answer to a program and to another one that
// follows from it, up to three steps away: with rows, cones or columns in another order,
// parts written in another way, rows that say nothing new, other units, or the dual
// program. What was planted follows along, so that each answer is judged by itself; where
// no value is known, but is that of the dual program, those of the two programs are compared.
const Relations = "relation"

// relation changes a case into one with the same answer, or its negative for the
// dual. It says whether there was something to change.
type relation struct {
	name  string
	apply func(*draw, *Case) bool
}

var relations = []relation{
	{"columns permuted", (*draw).permuteColumns},
	{"cones permuted", (*draw).permuteCones},
	{"rows permuted", (*draw).permuteRows},
	{"equations split", (*draw).splitEquations},
	{"boxes split", func(_ *draw, c *Case) bool { return c.splitBoxes() }},
	{"inequalities as boxes", (*draw).boxed},
	{"second-order as semidefinite", (*draw).arrow},
	{"dual", func(_ *draw, c *Case) bool { return c.dualise() }},
	{"degenerate", func(d *draw, c *Case) bool { d.degrade(c); return true }},
	{"scaled", func(d *draw, c *Case) bool { d.scale(c, max(1, float64(c.ID.Scale))); return true }},
	{"without presolve", func(_ *draw, c *Case) bool { c.Whole = true; return true }},
	{"zeros stored", func(_ *draw, c *Case) bool { c.Stored = !c.Stored; return true }},
}

func (r Run) relations(id ID, t *Tally) {
	c := Generate(id)
	if c.Class == Nonconvex {
		return
	}
	other, names := related(c)
	if len(names) == 0 {
		return
	}
	for _, b := range r.Backends {
		if !c.supported(b.Capabilities()) || !other.supported(b.Capabilities()) {
			continue
		}
		first, v := c.answer(b, r.Options)
		t.record(c, b.Name(), v)
		second, w := other.answer(b, r.Options)
		if sign := signOf(names); sign != 0 && !other.Apart && second != nil && !v.Outcome.Wrong() {
			w = c.agree(first, second, sign, w)
		}
		if w.Outcome.Wrong() {
			w.Detail += fmt.Sprintf(" %q", names)
		}
		t.record(other, b.Name(), w)
	}
}

// related applies relations to a copy of the case.
func related(c *Case) (*Case, []string) {
	d := newDraw(c.ID.Seed, 0x72656c61)
	other := c.clone()
	var names []string
	for range 1 + d.IntN(3) {
		if k := relations[d.IntN(len(relations))]; k.apply(d, other) {
			names = append(names, k.name)
		}
	}
	other.measure()
	return other, names
}

// signOf is -1 for the dual program, and 0 where values are not the same.
func signOf(names []string) float64 {
	sign := 1.0
	for _, name := range names {
		switch name {
		case "dual":
			sign = -sign
		case "scaled":
			return 0
		}
	}
	return sign
}

// agree compares the values of two programs that are both called optimal, the second one sign times the first, where
// none is known: v is the verdict on the second.
func (c *Case) agree(first, second *backends.Solution, sign float64, v Verdict) Verdict {
	if c.Class != Weak || v.Outcome.Wrong() || first == nil || first.Status != backends.Optimal ||
		second.Status != backends.Optimal {
		return v
	}
	_, size := c.objective(first.X)
	if off := math.Abs(first.Objective - sign*second.Objective); !(off <= Tolerance*max(1, size)) {
		return Verdict{Outcome: Off, Status: second.Status, Detail: fmt.Sprintf("objectives %.12g and %.12g", first.Objective,
			second.Objective)}
	}
	return v
}
