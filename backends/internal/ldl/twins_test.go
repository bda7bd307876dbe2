package ldl

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conetune/conetune/internal/proptest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// structure is a pattern for Analyze, the diagonal at the end of each column.
type structure struct {
	n        int
	ptr, ind []int32
	sign     []int8
}

// structured compresses the columns of an upper triangle, given without the
// diagonal.
func structured(cols [][]int32, positive int) structure {
	s := structure{n: len(cols), ptr: []int32{0}}
	for j, c := range cols {
		s.ind = append(append(s.ind, c...), int32(j))
		s.ptr = append(s.ptr, int32(len(s.ind)))
		sign := int8(1)
		if j >= positive {
			sign = -1
		}
		s.sign = append(s.sign, sign)
	}
	return s
}

// lassoKKT is the pattern of [P A'; A -D] with unknowns x and u, dense data
// rows on x, and two rows for each pair -u <= x <= u.
func lassoKKT(rows, cols int) structure {
	k := make([][]int32, 2*cols)
	var x []int32
	for j := range int32(cols) {
		x = append(x, j)
	}
	for range rows {
		k = append(k, x)
	}
	for range 2 {
		for j := range int32(cols) {
			k = append(k, []int32{j, j + int32(cols)})
		}
	}
	return structured(k, 2*cols)
}

// neighbours returns the adjacency of a pattern as sets.
func (s structure) neighbours() []map[int32]bool {
	sets := make([]map[int32]bool, s.n)
	for i := range sets {
		sets[i] = map[int32]bool{}
	}
	for j := range int32(s.n) {
		for _, i := range s.ind[s.ptr[j]:s.ptr[j+1]] {
			if i != j {
				sets[i][j], sets[j][i] = true, true
			}
		}
	}
	return sets
}

// matrix returns numbers for the pattern, duplicates added up, with a dominant
// diagonal. Dominance survives elimination, and with it the signs of the pivots.
func (s structure) matrix(rng *rand.Rand) *upper {
	u := &upper{n: s.n, full: make([][]float64, s.n), ptr: s.ptr, ind: s.ind, sign: s.sign,
		val: make([]float64, len(s.ind))}
	for i := range u.full {
		u.full[i] = make([]float64, s.n)
	}
	sum := make([]float64, s.n)
	for j := range int32(s.n) {
		for k := s.ptr[j]; k < s.ptr[j+1]; k++ {
			if i := s.ind[k]; i != j {
				v := rng.NormFloat64()
				u.val[k] = v
				u.full[i][j] += v
				u.full[j][i] += v
				sum[i] += max(v, -v)
				sum[j] += max(v, -v)
			}
		}
	}
	for j := range int32(s.n) {
		for k := s.ptr[j]; k < s.ptr[j+1]; k++ {
			if s.ind[k] == j {
				v := float64(s.sign[j]) * (1 + sum[j])
				u.val[k] = v
				u.full[j][j] += v
			}
		}
	}
	return u
}

// requireSolves checks Solve against the product with the dense matrix.
func requireSolves(t require.TestingT, s structure, seed uint64) *Factor {
	rng := rand.New(rand.NewPCG(seed, 11))
	u := s.matrix(rng)
	f := u.analyzed(t)
	require.Zero(t, f.Factorize(u.val, nil, 0, 1e-8))
	u.requireInverts(t, f, rng, 1e-10)
	return f
}

// shuffle renames the nodes at random, reverse from last to first.
func (s structure) shuffle(rng *rand.Rand) structure { return s.rename(rng.Perm(s.n)) }

func (s structure) reverse() structure {
	name := make([]int, s.n)
	for i := range name {
		name[i] = s.n - 1 - i
	}
	return s.rename(name)
}

func (s structure) rename(name []int) structure {
	cols, sign := make([][]int32, s.n), make([]int8, s.n)
	for j := range s.n {
		sign[name[j]] = s.sign[j]
		for _, i := range s.ind[s.ptr[j]:s.ptr[j+1]] {
			if int(i) != j {
				a, b := name[i], name[j]
				cols[max(a, b)] = append(cols[max(a, b)], int32(min(a, b)))
			}
		}
	}
	for _, c := range cols {
		slices.Sort(c)
	}
	out := structured(cols, 0)
	out.sign = sign
	return out
}

// expand replaces the nodes of a random graph, of which about the given share of
// entries is there, by groups of the given sizes. Node i has slack[i] private
// neighbours for each of its members.
func expand(rng *rand.Rand, sizes []int, density float64, slack []bool) structure {
	start, n := make([]int, len(sizes)), 0
	for c, size := range sizes {
		start[c] = n
		n += size
	}
	core := n
	cols := make([][]int32, n)
	for b := range sizes {
		for a := range b {
			if rng.Float64() < density {
				for j := start[b]; j < start[b]+sizes[b]; j++ {
					for i := start[a]; i < start[a]+sizes[a]; i++ {
						cols[j] = append(cols[j], int32(i))
					}
				}
			}
		}
	}
	for c, has := range slack {
		if has {
			for i := start[c]; i < start[c]+sizes[c]; i++ {
				cols = append(cols, []int32{int32(i)})
			}
		}
	}
	return structured(cols, core)
}

// The groups are those that a comparison of all pairs of nodes finds, apart from
// pairs with neighbours between them, and the factor solves.
func TestPlantedTwins(t *testing.T) {
	grouped := 0
	check := func(t require.TestingT, s structure, seed uint64) {
		f := requireSolves(t, s, seed)
		checkPermutation(t, f)

		g := findGroups(s.n, s.ptr, s.ind, nil)
		if g.weight == nil {
			return
		}
		grouped++
		sets := s.neighbours()
		reduced := make([]map[int32]bool, s.n)
		for i, set := range sets {
			reduced[i] = map[int32]bool{}
			for j := range set {
				if g.early[j] < 0 {
					reduced[i][j] = true
				}
			}
			if g.early[i] >= 0 {
				require.Len(t, set, 1)
				require.True(t, set[g.early[i]])
			}
		}
		same := func(i, j int) bool {
			for k := range reduced[i] {
				if !reduced[j][k] {
					return false
				}
			}
			return len(reduced[i]) == len(reduced[j])
		}
		for j := range s.n {
			for i := range j {
				if g.early[i] >= 0 || g.early[j] >= 0 {
					continue
				}
				between := false
				for k := range reduced[i] {
					between = between || i < int(k) && int(k) < j
				}
				together := g.first[i] == g.first[j]
				require.Equal(t, together, g.column[i] == g.column[j])
				if together {
					require.True(t, same(i, j), "%d and %d", i, j)
				} else if !between && len(reduced[i]) > smallRows && len(sets[i]) == len(reduced[i]) &&
					len(sets[j]) == len(reduced[j]) {
					require.False(t, same(i, j), "%d and %d", i, j)
				}
			}
		}
	}
	check(t, expand(rand.New(rand.NewPCG(1, 12)), []int{12, 1, 12, 1, 12}, 0.7, make([]bool, 5)), 1)
	require.Positive(t, grouped, "this one has twins")
	proptest.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 25).Draw(t, "nodes")
		sizes := make([]int, count)
		slack := make([]bool, count)
		for i := range sizes {
			if rapid.Bool().Draw(t, "group") {
				sizes[i] = rapid.IntRange(2, 12).Draw(t, "size")
			} else {
				sizes[i] = 1
			}
			slack[i] = rapid.IntRange(0, 3).Draw(t, "slack") == 0
		}
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 12))
		s := expand(rng, sizes, rapid.Float64Range(0, 0.7).Draw(t, "density"), slack)
		switch rapid.IntRange(0, 2).Draw(t, "names") {
		case 1:
			s = s.reverse()
		case 2:
			s = s.shuffle(rng)
		}
		check(t, s, seed)
	})
	if !testing.Short() { // where rapid draws so few that none may have any
		require.Greater(t, grouped, 1)
	}
}

func checkPermutation(t require.TestingT, f *Factor) {
	p := slices.Clone(f.perm)
	slices.Sort(p)
	for k, i := range p {
		require.EqualValues(t, k, i)
	}
}

// Rows in any order and entries given twice are allowed in the input.
func TestTwinsInUnsortedColumns(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 13))
		s := expand(rng, []int{1, 1, 8, 1, 10, 1, 1, 6, 1, 5}, 0.6, make([]bool, 10))
		out := structure{n: s.n, ptr: []int32{0}, sign: s.sign}
		order := rng.Perm(s.n)
		for j := range s.n {
			c := slices.Clone(s.ind[s.ptr[j]:s.ptr[j+1]])
			switch seed % 3 {
			case 0: // the same order everywhere
				slices.SortFunc(c, func(a, b int32) int { return order[a] - order[b] })
			case 1:
				rng.Shuffle(len(c), func(a, b int) { c[a], c[b] = c[b], c[a] })
			case 2:
				c = append(c, c[:rng.IntN(len(c))]...)
			}
			out.ind = append(out.ind, c...)
			out.ptr = append(out.ptr, int32(len(out.ind)))
		}
		requireSolves(t, out, seed)
	}
}

// Patterns of data fitting: their groups, panels, and the entries of L.
func TestTwinsOfDataFitting(t *testing.T) {
	rows := func(count, cols int, slack bool) structure {
		var all []int32
		k := make([][]int32, cols)
		for j := range int32(cols) {
			all = append(all, j)
		}
		for range count {
			k = append(k, all)
		}
		for i := range count {
			if slack {
				k = append(k, []int32{int32(cols + i)})
			}
		}
		return structured(k, cols)
	}
	for _, c := range []struct {
		name   string
		s      structure
		groups int // with more than one member
		early  int
		panels int
	}{
		{"lasso, more columns", lassoKKT(20, 60), 1, 0, 4},
		{"lasso, more rows", lassoKKT(100, 30), 1, 0, 3},
		{"least squares", rows(60, 20, false), 2, 0, 2},
		{"rows with slacks", rows(60, 20, true), 2, 60, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed, s := range []structure{c.s, c.s.reverse()} {
				g := findGroups(s.n, s.ptr, s.ind, nil)
				groups, early := 0, 0
				for _, w := range g.weight {
					groups += min(int(w)-1, 1)
				}
				for _, q := range g.early {
					if q >= 0 {
						early++
					}
				}
				require.Equal(t, c.groups, groups)
				require.Equal(t, c.early, early)
				f := requireSolves(t, s, uint64(seed))
				require.LessOrEqual(t, len(f.panels), c.panels)
			}
		})
	}
}
