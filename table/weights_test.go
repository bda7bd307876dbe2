package table

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Weights are numbers of the rows in use, of which those of weight 0 are left out.
func TestWeights(t *testing.T) {
	table := decode(t, "y,a,n,less,word,nil\n1,2,3,1,u,0\n2,3,0,-1,v,0\n3,5,0.5,2,w,0\n,7,9,1,x,1\n4,9,2,1,y,0\n",
		Options{})
	d := choose(t, table, Wanted{Weights: "n", Drop: []string{"less", "word", "nil"}})
	require.Equal(t, []int{0, 2, 4}, d.Rows())
	require.Equal(t, []float64{3, 0.5, 2}, d.Values("n", d.Rows()))
	e, _ := readThrough(t, d, d.Rows())
	require.Equal(t, []string{"a"}, e.Features())
	require.Equal(t, "column \"n\" (1, line 3): rows of weight 0, left out", d.Findings()[1].Text)
	require.Nil(t, choose(t, table, Wanted{}).Values("", []int{0}))
	for text, name := range map[string]string{
		`f: column 6 ("nil"): no row has a weight above 0`:    "nil",
		`f:3: column 4 ("less"): -1 found, expected a weight`: "less",
		"expected weights of rows":                            "word",
		`has no column "m" for Wanted.Weights`:                "m",
		`"y" is wanted for Wanted.Weights and is the target`:  "y",
	} {
		_, err := Choose(table, Wanted{Weights: name})
		require.ErrorContains(t, err, text)
	}
}
