package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/words"
)

// Term is features that belong together: those of a column, or the products of those of several.
type Term struct {
	// Columns are the numbers of its columns in the encoder.
	Columns  []int
	Features []string
}

// Terms are those of columns, and then of interactions, in the order of the features.
func (e *Encoder) Terms() (list []Term) {
	for k := range e.Columns {
		list = append(list, Term{[]int{k}, e.Columns[k].Features()})
	}
	return append(list, e.products()...)
}

// products are the terms of interactions.
func (e *Encoder) products() (list []Term) {
	for _, names := range e.Interactions {
		t := Term{Features: []string{""}}
		for i, name := range names {
			k := e.index(name)
			t.Columns = append(t.Columns, k)
			var products []string
			for _, left := range t.Features {
				for _, right := range e.Columns[k].made() {
					if i > 0 {
						right = left + ":" + right
					}
					products = append(products, right)
				}
			}
			t.Features = products
		}
		list = append(list, t)
	}
	return list
}

// index is the number of a column, -1 for none.
func (e *Encoder) index(column string) int {
	return slices.IndexFunc(e.Columns, func(c Coding) bool { return c.Column == column })
}

// validateTerms says which columns or features of terms there are not.
func (e *Encoder) validateTerms() error {
	for _, names := range e.Interactions {
		if len(names) < 2 || !unique(names) || slices.ContainsFunc(names, func(s string) bool { return e.index(s) < 0 }) {
			return fmt.Errorf("an interaction of the columns %q, expected two that are there, or more", names)
		}
	}
	owner := e.owners()
	for k := range e.Columns {
		for _, w := range e.Columns[k].Others.weights() {
			if of, there := owner[w.Feature]; !there || of == k {
				return fmt.Errorf("the column %q is filled by %q, which is no feature of another column", e.Columns[k].Column,
					w.Feature)
			}
		}
	}
	return nil
}

// owners are the numbers of the columns that features are made of, but for those of gaps and interactions.
func (e *Encoder) owners() map[string]int {
	out := map[string]int{}
	for k := range e.Columns {
		for _, name := range e.Columns[k].made() {
			out[name] = k
		}
	}
	return out
}

// Part is the encoder with those of its terms alone for which used is true, and with the columns that these take; their
// features are in the order of all.
func (e *Encoder) Part(used func(k int) bool) *Encoder {
	out, columns := *e, make([]bool, len(e.Columns))
	out.Columns, out.Interactions = nil, nil
	owner := e.owners()
	take := func(k int) {
		columns[k] = true
		for _, w := range e.Columns[k].Others.weights() {
			columns[owner[w.Feature]] = true // at its own fill
		}
	}
	for k, t := range e.Terms() {
		if used(k) {
			for _, c := range t.Columns {
				take(c)
			}
			if k >= len(e.Columns) {
				out.Interactions = append(out.Interactions, e.Interactions[k-len(e.Columns)])
			}
		}
	}
	for k, taken := range columns {
		if taken {
			out.Columns = append(out.Columns, e.Columns[k])
		}
	}
	return &out
}

// Expands says whether features depend on training rows beyond what stands in the place of missing values: those of
// splines and polynomials.
func (e *Encoder) Expands() bool {
	return e != nil && slices.ContainsFunc(e.Columns, func(c Coding) bool { return c.Basis.learned() })
}

// Form says in words what becomes of the column; empty where it is what is usual.
func (c *Coding) Form() string {
	switch b := c.Basis; {
	case c.Ordered:
		return "ordered"
	case b == nil:
		return ""
	case b.Kind == Polynomial:
		return fmt.Sprintf("polynomial of degree %d", len(b.Names))
	case b.Kind == Parts:
		var parts []string
		for _, name := range b.Names {
			part, _, _ := strings.Cut(strings.TrimLeft(name, "("), ")")
			part, _, _ = strings.Cut(part, ".")
			parts = append(parts, cmp.Or(part, Days))
		}
		return words.Joined(slices.Compact(parts))
	default:
		text, knots, end := fmt.Sprintf("natural cubic spline, %d degrees of freedom", len(b.Names)), "", ""
		for _, f := range b.Functions {
			if f.Kind == Ramp && f.Power == 1 { // from the last knot on
				end = " " + words.Number(f.At)
			} else if f.Kind == Ramp {
				knots += " " + words.Number(f.At)
			}
		}
		if knots != "" {
			text += ", knots" + knots + end
		}
		return text
	}
}
