package backends

import (
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/internal/dense"
)

// presolve finds what of a problem needs no solver (Andersen and Andersen, Presolving in linear programming, 1995):
//
//   - an equation and a variable, where that has up to two entries, or little is filled in and other rows imply the
//     variable's bounds: the equation says what the variable is, and the column what z of the equation is;
//   - rows that their entries' bounds imply, whose z is zero, as rows without entries or without bounds;
//   - rows that hold only with all their variables at bounds, and these;
//   - variables without entries, which are zero as q is.
//
// It is plain, and looks at equations of one entry, empty rows and variables without entries alone, where there is a P
// or a cone that is no product of intervals: what else may leave there is little, and the rest is harder. Variables in
// such a cone stay, as its rows would be empty. It is plain, too, from the first update on that leads to other rows or
// variables: what it then looks at stays the same over most updates.
type presolve struct {
	plain         bool
	patterns      bool            // plain, it may find something
	low, high     []float64       // the intervals of s
	conic, curved []bool          // variables in rows of a cone that is no product of intervals, and in P
	length        []int32         // of the rows of A
	rows          [][]coefficient // what is left of them
	cols          [][]int32       // rows with the variables, and rows that have left
	count         []int32         // how many of them have not
	b, q          []exactSum
	cancelled     cancelledTerms
	lower, upper  []float64 // bounds of the variables, by the rows with one entry
	byLower       []int32   // these rows, -1 for none
	byUpper       []int32
	at            []int32    // work space: the places of the entries of a row, or of what is left
	work          int        // how many entries may be visited yet
	spare, lent   matrixPair // of the pattern of what is left: for other numbers, and what a solver was set up with
}

const (
	// A round that finds less than one row or variable in so many is the last.
	leastFound = 100
	// Entries that are visited, as a multiple of those of A: what presolve costs at most.
	presolveWork = 40
	// A variable leaves with an equation where its entry is no smaller than this times others in its row and column.
	leastPivot = 1e-2
	// Entries that a variable which leaves may bring in. More make the factors dearer than they were.
	mostFilled = 7
	mostRows   = 3 // that such a variable is in, besides those with its bounds
	// Sums of two entries are zero, or no smaller than this times them.
	leastDigits = 1e-3
)

// newPresolve returns a presolve of problems of the pattern and the intervals of p, nil where nothing can be left out.
func newPresolve(p *Problem, low, high []float64) *presolve {
	n, m := p.Dims()
	t := &presolve{low: low, high: high, conic: make([]bool, n), curved: make([]bool, n), length: make([]int32, m),
		count: make([]int32, n)}
	only := make([]int32, m)
	stored(p.P, func(_, i, j int, _ float64) { t.plain, t.curved[i], t.curved[j] = true, true, true })
	stored(p.A, func(_, i, j int, _ float64) {
		t.length[i]++
		t.count[j]++
		only[i] = int32(j)
		if math.IsNaN(low[i]) {
			t.plain, t.conic[j] = true, true
		}
	})
	for i, length := range t.length {
		t.patterns = t.patterns || !math.IsNaN(low[i]) && (length == 0 || math.IsInf(low[i], -1) && math.IsInf(high[i], 1) ||
			length == 1 && low[i] == high[i] && !t.conic[only[i]])
	}
	for j, count := range t.count {
		t.patterns = t.patterns || count == 0 && !t.curved[j]
	}
	if t.plain && !t.patterns {
		return nil
	}
	t.rows, t.cols, t.b, t.q = make([][]coefficient, m), make([][]int32, n), make([]exactSum, m), make([]exactSum, n)
	t.lower, t.upper, t.byLower, t.byUpper = make([]float64, n), make([]float64, n), make([]int32, n), make([]int32, n)
	terms, rows := make([]coefficient, nonzeros(p.A)), make([]int32, nonzeros(p.A))
	for i, length := range t.length {
		t.rows[i], terms = terms[:0:length], terms[length:]
	}
	for j, count := range t.count {
		t.cols[j], rows = rows[:0:count], rows[count:]
	}
	return t
}

// plainly returns the presolve that looks at patterns alone, nil where there is nothing to find in them.
func (t *presolve) plainly() *presolve {
	if t == nil || !t.patterns {
		return nil
	}
	t.plain = true
	return t
}

// load takes the numbers of a problem.
func (t *presolve) load(p *Problem) {
	t.cancelled = cancelledTerms{p: *p}
	for i, b := range p.B {
		t.b[i] = exactSum{}
		t.b[i].add(b)
		t.rows[i] = t.rows[i][:0]
	}
	for j, q := range p.Q {
		t.q[j] = exactSum{}
		t.q[j].add(q)
		t.cols[j], t.count[j] = t.cols[j][:0], 0
	}
	stored(p.A, func(_, i, j int, v float64) {
		t.rows[i] = append(t.rows[i], coefficient{int32(j), v})
		t.cols[j] = append(t.cols[j], int32(i))
		t.count[j]++
	})
	t.at = dense.Cleared(t.at, max(len(p.Q), len(p.B)))
	t.work = presolveWork*nonzeros(p.A) + len(p.B)
}

// reduce returns nil where nothing of p can be left out. It is told which of its matrices are not those of the last
// reduction and, unless they are nil, given that and one that is no longer needed, whose memory it takes.
func (t *presolve) reduce(p *Problem, newP, newA bool, last, room *reduction) *reduction {
	if t == nil {
		return nil
	}
	n, m := p.Dims()
	r := room
	if r == nil || r.lent {
		r = &reduction{left: &Problem{}}
	}
	r.dropRow, r.dropCol = dense.Cleared(r.dropRow, m), dense.Cleared(r.dropCol, n)
	r.steps, r.terms, r.contradicts = r.steps[:0], r.terms[:0], false
	t.load(p)
	for t.round(r) > (m+n)/leastFound {
	}
	for j := range n {
		if q := settled(&t.q[j]); t.count[j] == 0 && !t.curved[j] && !r.dropCol[j] {
			none := t.cancelled.variable(q)
			r.dropCol[j], r.contradicts = none, r.contradicts || !none
		}
	}
	if !slices.Contains(r.dropRow, true) && !slices.Contains(r.dropCol, true) {
		return nil
	}
	left, spare := r.left, &t.spare
	if last != nil && r.follows(last) {
		r.rows, r.cols, left.Cones, left.A, left.P = last.rows, last.cols, last.left.Cones, last.left.A, last.left.P
	} else {
		r.rows, r.cols, left.Cones = notDropped(r.dropRow), notDropped(r.dropCol), withoutRows(p.Cones, r.dropRow)
		newP, newA, spare = p.P != nil, p.A != nil, new(matrixPair)
	}
	if newA {
		spare.a = t.matrix(spare.a, r.rows, r.cols)
		left.A = spare.a
	}
	if newP {
		spare.p = t.part(spare.p, p.P, r.cols)
		left.P = spare.p
	}
	r.fix(p, t.q)
	left.Q, left.B = dense.Cleared(left.Q, len(r.cols)), dense.Cleared(left.B, len(r.rows))
	for at, j := range r.cols {
		left.Q[at] = settled(&t.q[j])
	}
	for at, i := range r.rows {
		left.B[at] = settled(&t.b[i])
	}
	if !allFinite(left.Q) || !allFinite(left.B) || left.A != nil && !allFinite(left.A.RawMatrix().Data) {
		return nil
	}
	return r
}

// settled returns a sum, zero where it is no more than rounding.
func settled(s *exactSum) float64 {
	v := s.value()
	if math.Abs(v) <= lastPlaces*s.size {
		return 0
	}
	return v
}

// round visits each row and each variable once, and says how many have left, but for those of others.
func (t *presolve) round(r *reduction) (found int) {
	if !t.plain {
		t.bounds(r)
	}
	for i := range t.rows {
		if !r.dropRow[i] && !math.IsNaN(t.low[i]) && t.row(r, int32(i)) {
			found++
		}
	}
	for j := range t.cols {
		if !t.plain && !r.dropCol[j] && t.column(r, int32(j)) {
			found++
		}
	}
	return found
}

// bounds finds those of the variables.
func (t *presolve) bounds(r *reduction) {
	for j := range t.cols {
		t.lower[j], t.upper[j], t.byLower[j], t.byUpper[j] = math.Inf(-1), math.Inf(1), -1, -1
	}
	for i := range t.rows {
		if len(t.rows[i]) == 1 && !r.dropRow[i] && !math.IsNaN(t.low[i]) {
			t.bound(int32(i))
		}
	}
}

// bound tightens those of a variable by a row with nothing else, and says whether it is needed.
func (t *presolve) bound(i int32) bool {
	e := t.rows[i][0]
	if e.val == 0 {
		return true
	}
	lower, upper := t.interval(i, e.val, 0, 0)
	if lower > t.lower[e.at] {
		t.lower[e.at], t.byLower[e.at] = lower, i
	}
	if upper < t.upper[e.at] {
		t.upper[e.at], t.byUpper[e.at] = upper, i
	}
	return t.byLower[e.at] == i || t.byUpper[e.at] == i
}

// interval returns that of a variable with the entry a in row i, where the other terms are in [least, most].
func (t *presolve) interval(i int32, a, least, most float64) (lower, upper float64) {
	b := settled(&t.b[i])
	lower, upper = (b-t.high[i]-most)/a, (b-t.low[i]-least)/a
	if a < 0 {
		lower, upper = upper, lower
	}
	return lower, upper
}

// row looks at one, and says whether it has left.
func (t *presolve) row(r *reduction, i int32) bool {
	row, low, high, b := t.rows[i], t.low[i], t.high[i], settled(&t.b[i])
	equation, outside := low == high, max(low-b, b-high)
	switch {
	case t.plain && len(row) != int(t.length[i]):
		return false
	case math.IsInf(low, -1) && math.IsInf(high, 1), len(row) == 0 && t.cancelled.row(outside),
		len(row) == 0 && t.length[i] > 0 && outside <= outsideCone*t.b[i].size:
		t.leave(r, i)
		return true
	case len(row) == 0:
		r.contradicts = true
		return false
	case len(row) == 1 && equation:
		x := (b - low) / row[0].val
		if t.conic[row[0].at] || math.IsInf(x, 0) || math.IsNaN(x) {
			return false
		}
		t.substitute(r, i, row[0].at, low)
		return true
	case t.plain || t.work < 0:
		return false
	case len(row) == 1:
		if t.bound(i) {
			return false
		}
		t.leave(r, i)
		return true
	case len(row) == 2 && equation:
		j, other := row[0].at, row[1].at
		if t.count[other] < t.count[j] {
			j, other = other, j
		}
		if !t.takes(r, i, j) {
			j = other
		}
		if t.takes(r, i, j) {
			t.substitute(r, i, j, low)
			return true
		}
	}
	least, most := t.activity(i, -1)
	switch {
	case !equation && b-most >= low && b-least <= high:
		t.leave(r, i)
	case b-least == low:
		t.force(r, i, 1)
	case b-most == high:
		t.force(r, i, -1)
	default:
		return false
	}
	return true
}

// activity returns the interval of the terms of a row by the bounds of its variables, but for one of them.
func (t *presolve) activity(i, but int32) (least, most float64) {
	t.work -= len(t.rows[i])
	for _, e := range t.rows[i] {
		switch {
		case e.val == 0 || e.at == but:
		case e.val > 0:
			least, most = least+e.val*t.lower[e.at], most+e.val*t.upper[e.at]
		default:
			least, most = least+e.val*t.upper[e.at], most+e.val*t.lower[e.at]
		}
	}
	return least, most
}

// leave leaves out a row with z = 0.
func (t *presolve) leave(r *reduction, i int32) {
	r.dropRow[i] = true
	for _, e := range t.rows[i] {
		t.count[e.at]--
	}
}

// force leaves out a row that holds only with s at its lower side, or at the upper one for side < 0, and with all its
// variables at bounds, with these and their bounds.
func (t *presolve) force(r *reduction, i int32, side float64) {
	row := t.rows[i]
	steps := int32(len(r.steps))
	for k := len(row) - 1; k >= 0; k-- { // each leaves the row
		e := row[k]
		if e.val == 0 {
			continue
		}
		by, upper := t.byLower[e.at], side*e.val < 0
		if upper {
			by = t.byUpper[e.at]
		}
		slack := t.low[by]
		if upper == (t.rows[by][0].val < 0) {
			slack = t.high[by]
		}
		t.substitute(r, by, e.at, slack)
	}
	forced := int32(len(r.steps)) - steps
	t.leave(r, i)
	r.steps = append(r.steps, step{row: i, col: -1, forced: forced, low: side > 0})
}

// takes says whether a variable may leave with an equation: its entry is not small, and no digits are lost.
func (t *presolve) takes(r *reduction, i, j int32) bool {
	a := t.entry(i, j)
	for _, e := range t.rows[i] {
		if a == 0 || leastPivot*math.Abs(e.val) > math.Abs(a) {
			return false
		}
	}
	for _, h := range t.cols[j] {
		if r.dropRow[h] || h == i || len(t.rows[h]) == 1 {
			continue
		}
		ratio := t.entry(h, j) / a
		for _, e := range t.rows[i] {
			old := t.entry(h, e.at)
			sum := math.Abs(math.FMA(-ratio, e.val, old))
			if leastPivot*math.Abs(ratio) > 1 || e.at != j && sum != 0 && sum < leastDigits*math.Abs(old) {
				return false
			}
		}
	}
	return true
}

// entry returns that of a variable in a row.
func (t *presolve) entry(i, j int32) float64 {
	for k, e := range t.rows[i] {
		if e.at == j {
			t.work -= k/4 + 1
			return e.val
		}
	}
	t.work -= len(t.rows[i])/4 + 1
	return 0
}

// column looks at a variable that may leave with an equation, or with the only row that it is in besides its bounds: z
// of that is -q over its entry, which says at which side s is. It says whether the variable has left.
func (t *presolve) column(r *reduction, j int32) bool {
	if t.work < 0 {
		return false
	}
	others, best, equations := 0, int32(-1), false
	for _, i := range t.cols[j] {
		equation := t.low[i] == t.high[i]
		switch length := len(t.rows[i]); {
		case r.dropRow[i]:
		case length == 1:
			if equation {
				return false // its value is known in the next round
			}
			t.bound(i)
		case others == mostRows:
			return false
		default:
			if others++; equation && (!equations || length < len(t.rows[best])) || best < 0 {
				best, equations = i, equation
			}
		}
	}
	if best < 0 || !equations && others > 1 {
		return false
	}
	slack := t.low[best]
	if z := -settled(&t.q[j]) * t.entry(best, j); !equations && (z < 0 || z == 0 && math.IsInf(slack, 0)) {
		slack = t.high[best]
	}
	if length := len(t.rows[best]); math.IsInf(slack, 0) || (length-1)*(others-1) > mostFilled ||
		!t.implied(r, j) || !t.takes(r, best, j) {
		return false
	}
	for _, i := range t.cols[j] {
		if !r.dropRow[i] && len(t.rows[i]) == 1 {
			t.leave(r, i)
		}
	}
	t.substitute(r, best, j, slack)
	return true
}

// implied says whether rows with other variables imply the bounds of one.
func (t *presolve) implied(r *reduction, j int32) bool {
	lower, upper := t.lower[j], t.upper[j]
	for _, i := range t.cols[j] {
		if math.IsInf(lower, -1) && math.IsInf(upper, 1) {
			return true
		}
		if r.dropRow[i] || len(t.rows[i]) == 1 {
			continue
		}
		if a := t.entry(i, j); a != 0 {
			least, most := t.activity(i, j)
			l, u := t.interval(i, a, least, most)
			if l >= lower {
				lower = math.Inf(-1)
			}
			if u <= upper {
				upper = math.Inf(1)
			}
		}
	}
	return math.IsInf(lower, -1) && math.IsInf(upper, 1)
}

// substitute leaves out a variable with a row, whose s it makes slack.
func (t *presolve) substitute(r *reduction, i, j int32, slack float64) {
	s := step{row: i, col: j, low: slack == t.low[i], begin: len(r.terms), q: settled(&t.q[j])}
	for _, e := range t.rows[i] {
		if e.at == j {
			s.a = e.val
		} else {
			r.terms = append(r.terms, e)
			t.count[e.at]--
		}
	}
	s.split = len(r.terms)
	right := t.b[i]
	right.add(-slack)
	s.b = settled(&right)
	r.dropRow[i], r.dropCol[j] = true, true
	for _, h := range t.cols[j] {
		if !r.dropRow[h] {
			if v := t.eliminate(h, s, r.terms[s.begin:s.split]); v != 0 {
				r.terms = append(r.terms, coefficient{h, v})
			}
		}
	}
	s.end = len(r.terms)
	for _, e := range r.terms[s.begin:s.split] {
		t.q[e.at].addProduct(-s.q/s.a, e.val)
	}
	r.steps = append(r.steps, s)
}

// eliminate takes the variable of a step out of row h, given the others of the step's row, and returns its entry.
func (t *presolve) eliminate(h int32, s step, others []coefficient) (v float64) {
	row := t.rows[h]
	if len(others) == 0 {
		k := slices.IndexFunc(row, func(e coefficient) bool { return e.at == s.col })
		t.work -= k/4 + 1
		v = row[k].val
		t.b[h].addProduct(-v, s.b/s.a)
		row[k] = row[len(row)-1]
		t.rows[h] = row[:len(row)-1]
		return v
	}
	t.work -= len(row) + len(others)
	for k, e := range row {
		t.at[e.at] = int32(k) + 1
	}
	v = row[t.at[s.col]-1].val
	ratio, lost := v/s.a, false
	t.b[h].addProduct(-ratio, s.b)
	for _, e := range others {
		if k := t.at[e.at]; k > 0 {
			row[k-1].val = math.FMA(-ratio, e.val, row[k-1].val)
			lost = lost || row[k-1].val == 0
		} else if v != 0 {
			row = append(row, coefficient{e.at, -ratio * e.val})
			t.cols[e.at] = append(t.cols[e.at], h)
			t.count[e.at]++
		}
	}
	kept := row[:0]
	for _, e := range row {
		t.at[e.at] = 0
		switch {
		case e.at == s.col:
		case lost && e.val == 0:
			t.cols[e.at] = slices.DeleteFunc(t.cols[e.at], func(i int32) bool { return i == h })
			t.count[e.at]--
		default:
			kept = append(kept, e)
		}
	}
	t.rows[h] = kept
	return v
}

// matrix returns the given rows and columns of what is left of A, in the memory of a matrix of the same pattern unless
// that is nil.
func (t *presolve) matrix(room *sparse.CSC, rows, cols []int32) *sparse.CSC {
	if room == nil {
		room = sparse.NewCSC(len(rows), len(cols), make([]int, len(cols)+1), nil, nil)
	}
	out, entries := room.RawMatrix(), 0
	ptr := out.Indptr[:len(cols)+1]
	for at, j := range cols {
		ptr[at], t.at[j] = entries, int32(at)
		entries += int(t.count[j])
	}
	ind, data := dense.Cleared(out.Ind, entries), dense.Cleared(out.Data, entries)
	for at, i := range rows {
		for _, e := range t.rows[i] {
			c := t.at[e.at]
			ind[ptr[c]], data[ptr[c]] = at, e.val
			ptr[c]++
		}
	}
	copy(ptr[1:], ptr)
	ptr[0] = 0
	out.Indptr, out.Ind, out.Data = ptr, ind, data
	return room
}

// part returns the rows and columns of P that are left, in the memory of one of the same pattern unless that is nil.
func (t *presolve) part(room, p *sparse.CSC, cols []int32) *sparse.CSC {
	raw := p.RawMatrix()
	if room == nil {
		room = sparse.NewCSC(len(cols), len(cols), make([]int, 0, len(cols)+1), make([]int, 0, len(raw.Ind)),
			make([]float64, 0, len(raw.Ind)))
	}
	clear(t.at)
	for at, j := range cols {
		t.at[j] = int32(at) + 1
	}
	out := room.RawMatrix()
	ptr, ind, data := append(out.Indptr[:0], 0), out.Ind[:0], out.Data[:0]
	for _, j := range cols {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if i := t.at[raw.Ind[k]]; i > 0 {
				ind, data = append(ind, int(i)-1), append(data, raw.Data[k])
			}
		}
		ptr = append(ptr, len(ind))
	}
	out.Indptr, out.Ind, out.Data = ptr, ind, data
	return room
}
