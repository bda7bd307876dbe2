// Package split divides the rows of a table: into sets for training, validation and test, and into the folds of a
// cross-validation. Chance divides them, or groups of rows that belong together, or the order of time. Rows are numbers
// from 0, lists of them are in rising order, and the same seed gives the same division.
package split

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// By is what divides rows: chance, groups whose rows belong together, the order of time, or groups within that.
type By struct {
	// Group has a number for each row; nil without groups.
	Group []int
	// At has the time of each row; nil without times.
	At []float64
}

// Sets splits n rows into two or three sets, each in rising order. spec gives the sizes of the training, the validation
// and, if there is a third one, the test set, separated by slashes: a number of rows (50), a share of all rows (0.5 or
// 50%), or rest, once. Rows that "50/50" leaves over are not used. An empty set is an error.
//
// Rows of a group are in the same set: the largest group first, to the set that lacks the most rows of its size. In the
// order of time the first rows train, later ones validate, and the last ones test, see [By.Folds] for groups; rows of
// the same time are in the same set, so that sizes are met as nearly as that allows.
func (b By) Sets(n int, spec string, seed uint64) ([][]int, error) {
	sizes, err := Sizes(spec, n)
	if err != nil {
		return nil, err
	}
	var sets [][]int
	switch {
	case b.At != nil:
		if sets, err = inTimeOrder(b.At, sizes, spec); err != nil {
			return nil, err
		}
		if b.Group != nil {
			sets = apart(b.Group, sets, seed)
		}
	case b.Group != nil:
		all := sizes
		if over := n - total(sizes); over > 0 {
			all = append(slices.Clone(sizes), over) // rows that are not used
		}
		sets = divideGroups(b.Group, nil, all, seed)[:len(sizes)]
	default:
		sets = divide(n, sizes, seed)
	}
	if slices.ContainsFunc(sets, func(set []int) bool { return len(set) == 0 }) {
		return nil, fmt.Errorf("split %q: leaves a set empty, with %d groups in all", spec, len(PartsOf(b.Group)))
	}
	return sets, nil
}

// divide splits n rows at random into sets of these sizes.
func divide(n int, sizes []int, seed uint64) [][]int {
	order := permutation(n, seed)
	parts := make([][]int, len(sizes))
	for k, size := range sizes {
		parts[k], order = order[:size:size], order[size:]
		slices.Sort(parts[k])
	}
	return parts
}

// Sizes returns the two or three numbers of rows that spec means for n rows, see [By.Sets].
func Sizes(spec string, n int) ([]int, error) {
	fail := func(format string, args ...any) ([]int, error) {
		return nil, fmt.Errorf("split %q: %s", spec, fmt.Sprintf(format, args...))
	}
	parts := strings.Split(spec, "/")
	if len(parts) != 2 && len(parts) != 3 {
		return fail("expected two or three parts such as 50/50/rest or 0.5/0.25/rest")
	}
	sizes := make([]int, len(parts))
	rest := -1
	used, sum := 0, 0.0 // the rows taken so far, and their number before rounding
	for k, part := range parts {
		part = strings.TrimSpace(part)
		if part == "rest" {
			if rest >= 0 {
				return fail("has rest twice")
			}
			rest = k
			continue
		}
		rows, ok := partSize(part, n)
		if !ok {
			return fail("part %q is neither a positive number of rows, nor a share below 1 or 100%%, nor rest", part)
		}
		// Rounding the sums instead of the parts leaves no row over when the shares add up to 1.
		sum += rows
		sizes[k] = int(math.Round(min(sum, float64(n)+1))) - used
		used += sizes[k]
	}
	if used > n {
		return fail("asks for more than the %d rows there are", n)
	}
	if rest >= 0 {
		sizes[rest] = n - used
	}
	for k, size := range sizes {
		if size < 1 {
			return fail("leaves the %s set empty, with %d rows in all", [...]string{"training", "validation", "test"}[k], n)
		}
	}
	return sizes, nil
}

// partSize returns the rows that one part of a spec means, not rounded.
func partSize(part string, n int) (rows float64, ok bool) {
	if count, err := strconv.ParseInt(part, 10, 64); err == nil {
		return float64(count), count > 0
	}
	text, percent := strings.CutSuffix(part, "%")
	share, err := strconv.ParseFloat(text, 64)
	if percent {
		share /= 100
	}
	return share * float64(n), err == nil && share > 0 && share < 1
}

func permutation(n int, seed uint64) []int { return rand.New(rand.NewPCG(seed, streamOrder)).Perm(n) }

// streamOrder keeps the order of rows apart from what others draw from the same seed.
const streamOrder = 1
