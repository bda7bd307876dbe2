package regression

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// Rows held back.
//
// Validation rows are held back to see how far a choice follows their noise. Rows that are equal are held back together, so that a row of weight 2 is two rows here, too.

// heldRows is the least number of rows that a fold holds back.
const heldRows = 5

// StopFolds is the number of folds by which the recommended settings stop, 0 for not at all.
func (m *Model) StopFolds() int { return m.spec.StopFolds }

// HoldBack returns models without every folds-th validation row, nil where a fold would have fewer than five. Of a
// cross-validation, these rows are held back in each of its parts.
func (m *Model) HoldBack(folds int) []problems.HeldBack {
	if folds < 2 {
		return nil
	}
	total := 0
	for _, p := range m.data.parts {
		rows := count(different(p.choose))
		total += rows
		if rows < folds {
			return nil
		}
	}
	if total/folds < heldRows {
		return nil
	}
	out := make([]problems.HeldBack, folds)
	for f := range out {
		out[f] = m.holdBack(folds, f)
	}
	return out
}

// holdBack is the model without the validation rows whose number is f modulo folds.
func (m *Model) holdBack(folds, f int) problems.HeldBack {
	parts := m.data.parts
	kept, held := make([][]int, len(parts)), make([][]int, len(parts))
	out := problems.HeldBack{}
	for t, p := range parts {
		numbers := different(p.choose)
		for i, k := range numbers {
			if k%folds == f {
				held[t] = append(held[t], i)
				out.Weight += weightOf(p.choose, i)
			} else {
				kept[t] = append(kept[t], i)
			}
		}
		out.Rows += len(held[t])
		out.Different += (count(numbers) + folds - 1 - f) / folds
	}
	back := sync.OnceValue(func() []*dataset.Data {
		rows := make([]*dataset.Data, len(parts))
		for t, p := range parts {
			rows[t] = p.choose.Rows(held[t])
		}
		return rows
	})
	out.Model = func() problems.Bilevel {
		data := *m.data
		data.parts = slices.Clone(parts)
		for t, p := range parts {
			data.parts[t] = m.data.newPart(p.fit, p.choose.Rows(kept[t]), p.user)
			data.parts[t].multipliers = p.multipliers
		}
		return &Model{data: &data, spec: m.spec}
	}
	out.Error = func(x [][]float64) float64 {
		sum := 0.0
		for t, rows := range back() {
			sum += m.data.meanValue(rows, of(m.data, x, t), m.data.sd) / float64(len(parts))
		}
		return sum
	}
	return out
}

// HoldFolds returns models without some folds of a cross-validation, the folds of its first deal held back in so many parts; nil for a split, and where a part would have fewer than five
// different rows. What groups, times and weights say of the folds holds for these, too.
func (m *Model) HoldFolds(most int) []problems.HeldBack {
	parts := m.data.firstDeal()
	count := min(most, len(parts))
	if count < 2 {
		return nil
	}
	out := make([]problems.HeldBack, count)
	for f := range out {
		var kept, held []part
		for t, p := range parts {
			if t%count == f {
				held = append(held, p)
			} else {
				kept = append(kept, p)
			}
		}
		if out[f] = m.holdFolds(kept, held); out[f].Different < heldRows {
			return nil
		}
	}
	return out
}

// holdFolds is the model with some folds of which others are held back.
func (m *Model) holdFolds(kept, held []part) problems.HeldBack {
	with := func(parts []part) *Data {
		data := *m.data
		data.parts = parts
		return &data
	}
	back := with(held)
	out := problems.HeldBack{
		Model: func() problems.Bilevel { return &Model{data: with(kept), spec: m.spec} },
		Held:  func() problems.Bilevel { return &Model{data: back, spec: m.spec} },
		Error: func(x [][]float64) float64 {
			sum, all := 0.0, 0.0
			for t, p := range held {
				w := totalWeight(p.choose)
				sum, all = sum+w*m.data.meanValue(p.choose, of(back, x, t), m.data.sd), all+w
			}
			return sum / all
		},
	}
	for _, p := range held {
		out.Rows += len(p.choose.Y)
		out.Different += count(different(p.choose))
		out.Weight += totalWeight(p.choose)
	}
	return out
}

// firstDeal are the folds in which each row of the table validates once at most.
func (d *Data) firstDeal() []part {
	all := 0
	for _, p := range d.parts {
		all += len(p.val.Y)
	}
	table := d.user.Table()
	if len(d.parts) == 1 || table == nil || len(table.Y) == 0 {
		return d.parts[:1]
	}
	deals := max(1, int(math.Round(float64(all)/float64(len(table.Y)))))
	return d.parts[:len(d.parts)/deals]
}

// different numbers rows by the first one that equals each, in the order in which these come. Rows are told apart by their target, their offset and one combination of their features.
func different(rows *dataset.Data) []int {
	_, p := rows.Dims()
	along := make([]float64, p)
	for j := range along {
		_, along[j] = math.Modf(float64(j+1) * math.Phi)
	}
	type row struct{ f, y, offset float64 }
	numbers, seen := make([]int, len(rows.Y)), make(map[row]int, len(rows.Y))
	for i, f := range rows.Mul(along) {
		r := row{f: f, y: rows.Y[i]}
		if rows.Offset != nil {
			r.offset = rows.Offset[i]
		}
		k, known := seen[r]
		if !known {
			k = len(seen)
			seen[r] = k
		}
		numbers[i] = k
	}
	return numbers
}

// count is how many numbers there are, from 0 on.
func count(numbers []int) int { return slices.Max(append([]int{-1}, numbers...)) + 1 }

// weightOf is the weight of row i.
func weightOf(rows *dataset.Data, i int) float64 {
	if rows.Weights == nil {
		return 1
	}
	return rows.Weights[i]
}

// totalWeight is the sum of the weights.
func totalWeight(rows *dataset.Data) float64 {
	if rows.Weights == nil {
		return float64(len(rows.Y))
	}
	return floats.Sum(rows.Weights)
}
