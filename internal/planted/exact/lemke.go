package exact

import "math/big"

// lemke looks for z >= 0 with w = q + Mz >= 0 and z'w = 0. With a positive semidefinite
// M there is one, or the second result is a u >= 0 with Mu >= 0, Mu + M'u = 0 and
// q'u < 0, which no z with w >= 0 allows.
func lemke(m [][]*big.Rat, q []*big.Rat) (z, ray []*big.Rat) {
	n := len(q)
	t := newTableau(m, q)
	row := t.start()
	if row < 0 {
		return zeros(n), nil
	}
	for entering := 2 * n; ; { // z0, then the complement of what left
		leaving := t.basis[row]
		t.pivot(row, entering)
		if leaving == 2*n {
			return t.solution(), nil
		}
		entering = (leaving + n) % (2 * n)
		if row = t.ratio(entering); row < 0 {
			return nil, t.ray(entering)
		}
	}
}

// tableau holds w - Mz - e z0 = q: the columns of w, of z, of z0, and the right-hand
// side, in the order of the basis.
type tableau struct {
	n     int
	rows  [][]*big.Rat
	basis []int // the column that is basic in the row
}

func newTableau(m [][]*big.Rat, q []*big.Rat) *tableau {
	n := len(q)
	t := &tableau{n: n, rows: make([][]*big.Rat, n), basis: make([]int, n)}
	for i := range n {
		row := zeros(2*n + 2)
		row[i].SetInt64(1)
		for j := range n {
			row[n+j].Neg(m[i][j])
		}
		row[2*n].SetInt64(-1)
		row[2*n+1].Set(q[i])
		t.rows[i], t.basis[i] = row, i
	}
	return t
}

// start returns the row that z0 takes, the one with the smallest q_i and of these, in
// lexicographic order, the last; -1 if no q_i is negative.
func (t *tableau) start() int {
	least := -1
	for i, row := range t.rows {
		if v := row[2*t.n+1]; v.Sign() < 0 && (least < 0 || v.Cmp(t.rows[least][2*t.n+1]) <= 0) {
			least = i
		}
	}
	return least
}

// pivot makes the column basic in the row.
func (t *tableau) pivot(row, column int) {
	t.basis[row] = column
	own := t.rows[row]
	inverse := new(big.Rat).Inv(own[column])
	for _, v := range own {
		if v.Sign() != 0 {
			v.Mul(v, inverse)
		}
	}
	product := new(big.Rat)
	for i, other := range t.rows {
		if i == row || other[column].Sign() == 0 {
			continue
		}
		factor := new(big.Rat).Set(other[column])
		for j, v := range own {
			if v.Sign() != 0 {
				other[j].Sub(other[j], product.Mul(factor, v))
			}
		}
	}
}

// ratio returns the row that the column leaves with: the smallest ratio of the
// right-hand side to a positive entry, z0 first, then the lexicographically smallest
// row; -1 if no entry is positive.
func (t *tableau) ratio(column int) int {
	least := -1
	for i, row := range t.rows {
		if row[column].Sign() <= 0 {
			continue
		}
		if least < 0 || t.before(i, least, column) {
			least = i
		}
	}
	return least
}

// before compares rows i and j, divided by their entries in the column.
func (t *tableau) before(i, j, column int) bool {
	a, b := t.rows[i], t.rows[j]
	left, right := new(big.Rat), new(big.Rat)
	compare := func(k int) int {
		return left.Quo(a[k], a[column]).Cmp(right.Quo(b[k], b[column]))
	}
	if order := compare(2*t.n + 1); order != 0 {
		return order < 0
	}
	if z0 := 2 * t.n; t.basis[i] == z0 || t.basis[j] == z0 {
		return t.basis[i] == z0
	}
	for k := range t.n {
		if order := compare(k); order != 0 {
			return order < 0
		}
	}
	return i < j
}

// solution returns z.
func (t *tableau) solution() []*big.Rat {
	z := zeros(t.n)
	for i, column := range t.basis {
		if column >= t.n && column < 2*t.n {
			z[column-t.n].Set(t.rows[i][2*t.n+1])
		}
	}
	return z
}

// ray returns the part of z in the direction in which the column enters without end.
func (t *tableau) ray(entering int) []*big.Rat {
	u := zeros(t.n)
	set := func(column int, v *big.Rat) {
		if column >= t.n && column < 2*t.n {
			u[column-t.n].Set(v)
		}
	}
	set(entering, big.NewRat(1, 1))
	for i, column := range t.basis {
		set(column, new(big.Rat).Neg(t.rows[i][entering]))
	}
	return u
}

func zeros(n int) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	return out
}
