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
	n := len(r.m.Columns)
	given := q.CSC(n, n)
	upper := program.NewEntries(q.Len())
	for k := range q.Value {
		i, j := q.Row[k], q.Col[k]
		upper.Add(int(min(i, j)), int(max(i, j)), q.Value[k])
	}
	r.quadratic = program.Entries{}
	p := upper.CSC(n, n)
	// A pair given in both orders falls on one place of the triangle.
	triangle := len(p.RawMatrix().Ind) == len(given.RawMatrix().Ind)
	switch {
	case r.quadraticName == "QMATRIX", r.quadraticName == "QSECTION" && !triangle:
		r.checkSymmetric(given)
		p = triu(given)
	case !triangle:
		i, j := pairInBothOrders(given)
		r.FailAt(r.quadraticLine, "QUADOBJ",
			"the pair (%s, %s) is there in both orders, expected one triangle (QMATRIX holds both)",
			textfile.Quote([]byte(r.m.Columns[i])), textfile.Quote([]byte(r.m.Columns[j])))
	}
	r.m.P = p
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

func (r *reader) checkSymmetric(a *sparse.CSC) {
	raw := a.RawMatrix()
	for j := range len(r.m.Columns) {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			i, v := raw.Ind[k], raw.Data[k]
			if other, _ := at(a, j, i); math.Abs(v-other) > symmetryTolerance*max(math.Abs(v), math.Abs(other)) {
				r.FailAt(r.quadraticLine, r.quadraticName,
					"is not symmetric: %g for (%s, %s) and %g the other way round, expected both triangles (QUADOBJ holds one)",
					v, textfile.Quote([]byte(r.m.Columns[i])), textfile.Quote([]byte(r.m.Columns[j])), other)
			}
		}
	}
}

func pairInBothOrders(a *sparse.CSC) (i, j int) {
	raw := a.RawMatrix()
	_, n := a.Dims()
	for j := range n {
		for _, i := range raw.Ind[raw.Indptr[j]:raw.Indptr[j+1]] {
			if _, both := at(a, j, i); both && i != j {
				return i, j
			}
		}
	}
	return 0, 0
}

// triu keeps the upper triangle of a, in the memory of a.
func triu(a *sparse.CSC) *sparse.CSC {
	raw := a.RawMatrix()
	_, n := a.Dims()
	out, from := 0, 0
	for j := range n {
		to := raw.Indptr[j+1]
		for k := from; k < to && raw.Ind[k] <= j; k++ {
			raw.Ind[out], raw.Data[out] = raw.Ind[k], raw.Data[k]
			out++
		}
		from, raw.Indptr[j+1] = to, out
	}
	return sparse.NewCSC(n, n, raw.Indptr, raw.Ind[:out], raw.Data[:out])
}
