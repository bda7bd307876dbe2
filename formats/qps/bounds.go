package qps

import (
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

// defaultBounds are those of columns without others.
func (r *reader) defaultBounds() {
	if n := len(r.m.Columns); r.m.ColumnLower == nil {
		r.m.ColumnLower, r.m.ColumnUpper = make([]float64, n), slices.Repeat([]float64{math.Inf(1)}, n)
		r.lowerSet = make([]bool, n)
	}
}

// boundLine reads a line of BOUNDS: a kind, perhaps the name of a set, a column,
// and for some kinds a number.
func (r *reader) boundLine() {
	r.defaultBounds()
	kind, set, name, number := r.boundFields()
	j, ok := r.columns[string(name)]
	if !ok {
		r.fail("BOUNDS", "column %s is not in COLUMNS", textfile.Quote(name))
	}
	field := kind + " bound of " + quoted("column", name)
	v := 0.0
	if number != nil {
		var reason string
		if v, reason = side(number); reason != "" {
			r.fail(field, "%s", reason)
		}
	}
	if len(set) > 0 {
		if r.bounds != "" && string(set) != r.bounds {
			return // of several sets the first counts
		}
		r.bounds = string(set)
	}
	lower, upper := &r.m.ColumnLower[j], &r.m.ColumnUpper[j]
	inf := math.Inf(1)
	switch kind {
	case "LO":
		if v == inf {
			r.fail(field, "is +infinity, expected a number or -infinity")
		}
		*lower, r.lowerSet[j] = v, true
	case "UP":
		if v == -inf {
			r.fail(field, "is -infinity, expected a number or infinity")
		}
		*upper = v
		if v < 0 && !r.lowerSet[j] {
			*lower = -inf
		}
	case "FX":
		if math.IsInf(v, 0) {
			r.fail(field, "is infinite, expected a number")
		}
		*lower, *upper, r.lowerSet[j] = v, v, true
	case "FR":
		*lower, *upper, r.lowerSet[j] = -inf, inf, true
	case "MI":
		*lower, r.lowerSet[j] = -inf, true
	case "PL":
		*upper = inf
	}
}

// boundFields takes the line apart. Kinds without a number have a nil one.
func (r *reader) boundFields() (kind string, set, name, number []byte) {
	f := r.words.field
	if r.words.fixed {
		f = [][]byte{r.words.card[0]}
		for _, k := range [...]int{1, 2, 3} {
			if k == 1 || len(r.words.card[k]) > 0 {
				f = append(f, r.words.card[k])
			}
		}
	}
	if len(f) == 0 {
		r.fail("BOUNDS", "expected a kind of bound, a column and a number")
	}
	kind = strings.ToUpper(string(f[0]))
	f[0] = nil // the set of a column before which none stands
	fields := len(f) - 1
	switch kind {
	case "LO", "UP", "FX":
		if fields == 2 || fields == 3 {
			return kind, f[fields-2], f[fields-1], f[fields]
		}
		r.fail("BOUNDS", "%s with %d fields, expected perhaps the name of a set, a column, and a number", kind, fields)
	case "FR", "MI", "PL":
		at := fields // of the column
		switch fields {
		case 2: // with the name of a set or, before nothing that counts, with a number
			_, last := r.columns[string(f[2])]
			if _, first := r.columns[string(f[1])]; first && !last {
				at = 1
			}
		case 3: // with both
			at = 2
		}
		if fields >= 1 && fields <= 3 {
			return kind, f[at-1], f[at], nil
		}
		r.fail("BOUNDS", "%s with %d fields, expected perhaps the name of a set, and a column", kind, fields)
	case "BV", "LI", "UI", "SC":
		r.fail("BOUNDS", "%s is a bound of integer or semi-continuous columns, which are not supported", kind)
	}
	r.fail("BOUNDS", "%s found, expected LO, UP, FX, FR, MI or PL", textfile.Quote([]byte(kind)))
	return "", nil, nil, nil
}
