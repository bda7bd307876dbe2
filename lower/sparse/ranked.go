package sparse

import (
	"cmp"
	"slices"
)

// ranked is an entry that is missing from what is worked with, and how much it wants to move.
type ranked struct {
	over float64
	j    int
}

// foremost are the entries that want to move most, so many of them at most, the first of equal ones first.
func foremost(list []ranked, most int) []ranked {
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.over, a.over), a.j-b.j) })
	return list[:min(len(list), most)]
}
