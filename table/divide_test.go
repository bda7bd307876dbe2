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
