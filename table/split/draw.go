package split

import (
	"math/rand/v2"
	"slices"
)

// Draw draws n of the rows 0 to n-1 with replacement, in rising order, for sample number k of a bootstrap (Efron,
// Annals of Statistics 7, 1979). Where group has a number for each row, it draws as many groups as there are, each with
// all of its rows. A sample depends on the seed and its number alone, not on others.
func Draw(n int, group []int, seed uint64, k int) []int {
	draws := rand.New(rand.NewPCG(repeatSeed(seed, k), streamDraws))
	rows := make([]int, 0, n)
	if group == nil {
		for range n {
			rows = append(rows, draws.IntN(n))
		}
	} else {
		parts := PartsOf(group)
		for range parts {
			rows = append(rows, parts[draws.IntN(len(parts))]...)
		}
	}
	slices.Sort(rows)
	return rows
}

// streamDraws keeps the samples apart from the order of rows, see streamOrder.
const streamDraws = 2
