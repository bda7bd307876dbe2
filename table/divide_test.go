package table

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const visits = "person,day,part,a,y\n" +
	"bob,2020-01-03,1,1,1\n" +
	"ann,2020-01-01,2,2,2\n" +
	"bob,2020-01-02,10,3,3\n" +
	"cid,2020-01-01,2,4,4\n" +
	"ann,2020-01-05,1,5,\n"

// Columns that divide rows are no features unless they are named; numbers come by size, texts by their bytes, dates as
// days.
func TestDivisionOfRows(t *testing.T) {
	table := decode(t, visits, Options{})
	d := choose(t, table, Wanted{Division: Division{Fold: "part", Group: "person", Time: "day"}})
	require.Equal(t, []int{0, 1, 2, 3}, d.Rows())
	require.Equal(t, []int{0, 1, 2, 1}, d.Numbers("part", d.Rows()))
	require.Equal(t, []int{1, 0, 1, 2}, d.Numbers("person", d.Rows()))
	require.Equal(t, []float64{18264, 18262, 18263, 18262}, d.Values("day", d.Rows())) // days of 2020
	e, _ := readThrough(t, d, d.Rows())
	require.Equal(t, []string{"a"}, e.Features())
	d = choose(t, table, Wanted{Features: []string{"day", "a"}, Division: Division{Time: "day"}})
	e, _ = readThrough(t, d, d.Rows())
	require.Equal(t, []string{"day", "a"}, e.Features())
	require.Nil(t, d.Numbers("", d.Rows()))
	for text, w := range map[string]Wanted{
		`has no column "persn" for Division.Group`:                                                      {Division: Division{Group: "persn"}},
		`"y" is wanted for Division.Time and is the target`:                                             {Division: Division{Time: "y"}},
		"texts found (lines 2, 3, 4, ..), expected times":                                               {Division: Division{Time: "person"}},
		"1 missing value (line 6) in a column that says how rows are divided: give these cells a value": {Targets: []string{"a"}, Division: Division{Group: "y"}},
	} {
		_, err := Choose(table, w)
		require.ErrorContains(t, err, text)
	}
}

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
