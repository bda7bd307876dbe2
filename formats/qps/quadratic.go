package qps

import (
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// openQuadratic starts QUADOBJ, QMATRIX or QSECTION, the last one followed by the
// row that it is about.
func (r *reader) openQuadratic(rest []string) {
	if r.quadraticName != "" {
		r.fail("section "+r.name, "comes after %s, expected one section for the quadratic term", r.quadraticName)
	}
	if len(rest) > 0 {
		if i, ok := r.rows[rest[0]]; r.name == "QSECTION" && (!ok || i != objectiveRow) {
			r.fail("section "+r.name, "is about row %s, quadratic constraints are not supported, expected the objective %s",
				textfile.Quote([]byte(rest[0])), textfile.Quote([]byte(r.m.Objective)))
		}
	}
	r.quadraticName, r.quadraticLine = r.name, r.LineNumber()
}

// quadraticEntries reads a line of such a section: a column, and entries by columns.
func (r *reader) quadraticEntries() {
	head := r.words.pairs()
	if len(head) == 0 || len(r.words.pair) == 0 {
		r.fail(r.name, "expected a column, a column and a number, and perhaps another column and number")
	}
	i, ok := r.columns[string(head)]
	if !ok {
		r.fail(r.name, "column %s is not in COLUMNS", textfile.Quote(head))
	}
	entries := r.entries[:0]
	for _, p := range r.words.pair {
		j, ok := r.columns[string(p.name)]
		if !ok {
			r.fail(r.name, "column %s is not in COLUMNS", textfile.Quote(p.name))
		}
		v, reason := program.Number(p.number)
		if reason != "" {
			r.fail(r.name, "entry (%s, %s): %s", textfile.Quote(head), textfile.Quote(p.name), reason)
		}
		entries = append(entries, rowEntry{j, v})
	}
	r.entries = entries
	for _, e := range entries {
		r.quadratic.Read(r.Source, int(i), int(e.row), e.value)
	}
}

// symmetryTolerance is how far the two entries of a pair in a full matrix may be
// apart, relative to the larger one: files are written with 12 digits and more.
const symmetryTolerance = 1e-9

// upperTriangle makes P out of what the section holds.
func (r *reader) upperTriangle() {
	q := &r.quadratic
	if q.Len() == 0 {
		return
	}
	n, name := len(r.m.Columns), r.quadraticName
	given, upper := q.CSC(n, n), program.NewEntries(q.Len())
	r.quadratic = program.Entries{}
	// each calls f with the entries, those in the place of their mirror images, and whether they are there, too.
	each := func(f func(i, j int, v, mirror float64, both bool)) {
		for j := range n {
			program.Column(given, j, func(i int, v float64) {
				mirror, both := at(given, j, i)
				f(i, j, v, mirror, both && i != j)
			})
		}
	}
	quote := func(j int) string { return textfile.Quote([]byte(r.m.Columns[j])) }
	full := name == "QMATRIX"
	each(func(i, j int, _, _ float64, both bool) {
		if full = full || both; both && name == "QUADOBJ" {
			r.FailAt(r.quadraticLine, name,
				"the pair (%s, %s) is there in both orders, expected one triangle (QMATRIX holds both)",
				quote(i), quote(j))
		}
	})
	each(func(i, j int, v, mirror float64, _ bool) {
		if full && math.Abs(v-mirror) > symmetryTolerance*max(math.Abs(v), math.Abs(mirror)) {
			r.FailAt(r.quadraticLine, name,
				"is not symmetric: %g for (%s, %s) and %g the other way round, expected both triangles (QUADOBJ holds one)",
				v, quote(i), quote(j), mirror)
		}
		if !full || i <= j {
			upper.Add(min(i, j), max(i, j), v)
		}
	})
	r.m.P = upper.CSC(n, n)
}

// at returns the entry (i, j), which may be absent.
func at(a *sparse.CSC, i, j int) (v float64, ok bool) {
	raw := a.RawMatrix()
	from, to := raw.Indptr[j], raw.Indptr[j+1]
	k, ok := slices.BinarySearch(raw.Ind[from:to], i)
	if !ok {
		return 0, false
	}
	return raw.Data[from+k], true
}
