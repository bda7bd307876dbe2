package regression

import (
	"math"
	"slices"
	"sync"

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
		for i, k := range different(p.choose) {
			if k%folds == f {
				held[t] = append(held[t], i)
			} else {
				kept[t] = append(kept[t], i)
			}
		}
		out.Rows += len(held[t])
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
		}
		return &Model{data: &data, spec: m.spec, rung: m.rung}
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
