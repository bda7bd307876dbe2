package survival

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Part are rows with times and values that compare with each other, and their weights, nil for ones, whose products are
// those of pairs.
type Part struct{ Y, F, Weights []float64 }

// Concordance is Harrell's index (JAMA 247, 1982) of values of rows: of the pairs of a part of which it is known whose
// event came first, the share in which that row has the larger value; equal values count one half. A pair is known
// where the earlier time is an event, or both times are equal and one of them is an event. It is NaN without such a
// pair. The standard error is that of the infinitesimal jackknife, by what each row contributes.
func Concordance(parts ...Part) (index, standardError float64) {
	var good, pairs []float64
	for _, p := range parts {
		g, n := concordant(p)
		good, pairs = append(good, g...), append(pairs, n...)
	}
	total := floats.Sum(pairs)
	if total == 0 {
		return math.NaN(), math.NaN()
	}
	index = floats.Sum(good) / total
	for i := range good {
		d := 2 * (good[i] - index*pairs[i]) / total
		standardError += d * d
	}
	return index, math.Sqrt(standardError)
}

// weight is that of row i.
func (p Part) weight(i int) float64 {
	if p.Weights == nil {
		return 1
	}
	return p.Weights[i]
}

// concordant counts the pairs of each row in which the values are as the times, and all that are known, or sums up
// their weights.
func concordant(p Part) (less, pairs []float64) {
	y := p.Y
	order := sorted(y)
	rank := ranks(p.F)
	less, pairs = make([]float64, len(y)), make([]float64, len(y))
	count := func(sign float64, rows []int, now, to func(i int) bool) {
		tree := make(counts, len(y)+1)
		for len(rows) > 0 {
			same := 1 // rows of one time, all events or all censored, which are not compared with each other
			for same < len(rows) && y[rows[same]] == y[rows[0]] && math.Signbit(y[rows[same]]) == math.Signbit(y[rows[0]]) {
				same++
			}
			for _, i := range rows[:same] {
				if to(i) {
					below, equal := tree.below(rank[i])
					if sign < 0 {
						below = tree.total() - below - equal
					}
					less[i] += below + equal/2
					pairs[i] += tree.total()
				}
			}
			for _, i := range rows[:same] {
				if now(i) {
					tree.add(rank[i], p.weight(i))
				}
			}
			rows = rows[same:]
		}
	}
	any, event := func(int) bool { return true }, func(i int) bool { return !math.Signbit(y[i]) }
	// Events with the later rows, and rows with the earlier events.
	backward := slices.Clone(order)
	slices.Reverse(backward)
	count(1, backward, any, event)
	count(-1, order, event, any)
	for i := range y {
		if w := p.weight(i); w != 1 {
			less[i], pairs[i] = w*less[i], w*pairs[i]
		}
	}
	return less, pairs
}

// ranks number the different values from 1 on.
func ranks(f []float64) []int {
	values := slices.Clone(f)
	slices.Sort(values)
	values = slices.Compact(values)
	out := make([]int, len(f))
	for i, v := range f {
		k, _ := slices.BinarySearch(values, v)
		out[i] = k + 1
	}
	return out
}

// counts are sums over ranks, a binary indexed tree whose entry 0 is the whole.
type counts []float64

func (c counts) add(rank int, weight float64) {
	c[0] += weight
	for ; rank < len(c); rank += rank & -rank {
		c[rank] += weight
	}
}

func (c counts) total() float64 { return c[0] }

// below is the number with a smaller rank, and with this one.
func (c counts) below(rank int) (below, equal float64) {
	below = c.up(rank - 1)
	return below, c.up(rank) - below
}

func (c counts) up(rank int) (sum float64) {
	for ; rank > 0; rank -= rank & -rank {
		sum += c[rank]
	}
	return sum
}
