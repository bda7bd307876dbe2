// Package groups divides features into groups, for the models with a norm for each group.
//
// # Files
//
// A file of groups is CSV with the columns feature and group, a line for each feature in any
// order (one feature may stand on several lines where groups may overlap); or the column group
// alone, a line for each feature in the order of the table. It may be gzipped. Groups are
// integers that are not negative, with gaps or not; they are sorted by that number, and
// called group and the number.
package groups

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Groups are M groups of p features.
type Groups struct {
	// Names are the M names.
	Names []string
	// Members are the indices of the features of each group, increasing.
	Members [][]int
}

// Len returns the number M of groups.
func (g *Groups) Len() int { return len(g.Members) }

// Factors are the roots of the numbers of features of the groups, by which norms of noise are alike (Yuan, Lin 2006).
func (g *Groups) Factors() []float64 {
	list := make([]float64, g.Len())
	for k, members := range g.Members {
		list[k] = math.Sqrt(float64(len(members)))
	}
	return list
}

// Equal divides p features into m consecutive groups of the same size.
func Equal(p, m int) (*Groups, error) {
	switch {
	case m < 1:
		return nil, fmt.Errorf("%d groups, expected at least 1", m)
	case m > p:
		return nil, fmt.Errorf("%d groups of %d features, expected at most one for each feature", m, p)
	case p%m != 0:
		return nil, fmt.Errorf(
			"%d features cannot be divided into %d groups of the same size; a file can name groups of any size", p, m)
	}
	number := make([]int, p)
	for j := range number {
		number[j] = j / (p / m)
	}
	return Of(number)
}

// Of makes groups of the features with the same number, which must not be negative.
func Of(number []int) (*Groups, error) {
	members := map[int][]int{}
	for j, k := range number {
		if k < 0 {
			return nil, fmt.Errorf("group of feature %d is %d, expected an integer that is not negative", j+1, k)
		}
		members[k] = append(members[k], j)
	}
	return sorted(members), nil
}

// sorted puts the groups in the order of their numbers.
func sorted(members map[int][]int) *Groups {
	g := &Groups{}
	for _, k := range slices.Sorted(maps.Keys(members)) {
		slices.Sort(members[k])
		g.Names = append(g.Names, "group"+strconv.Itoa(k))
		g.Members = append(g.Members, members[k])
	}
	return g
}

// Check says what keeps g from being groups of p features: an empty group, an index out of
// range, a feature that is twice in one group, in no group or, unless overlap is allowed, in two.
func (g *Groups) Check(p int, overlap bool) error {
	if g == nil || len(g.Members) == 0 {
		return fmt.Errorf("no groups, expected at least 1")
	}
	if len(g.Names) != len(g.Members) {
		return fmt.Errorf("%d names for %d groups", len(g.Names), len(g.Members))
	}
	in := make([]int, p) // 1 + the last group of each feature
	for k, members := range g.Members {
		if len(members) == 0 {
			return fmt.Errorf("%s is empty", g.Names[k])
		}
		for _, j := range members {
			switch {
			case j < 0 || j >= p:
				return fmt.Errorf("%s holds feature %d, expected indices from 0 to %d", g.Names[k], j, p-1)
			case in[j] == k+1:
				return fmt.Errorf("%s holds feature %d twice", g.Names[k], j)
			case in[j] != 0 && !overlap:
				return fmt.Errorf("feature %d is in %s and in %s, expected one group for each feature", j, g.Names[in[j]-1],
					g.Names[k])
			}
			in[j] = k + 1
		}
	}
	if j := slices.Index(in, 0); j >= 0 {
		return fmt.Errorf("feature %d is in no group", j)
	}
	return nil
}
