package table

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// What stands for a missing value: the texts and numbers that the user names, in all columns that are not verbatim; the
// column becomes what its other cells are.
func TestMissingSpellings(t *testing.T) {
	text := "y,dose,site,id\n1,<0.006,-,-9\n2,0.5,a,7\n3,-9,b,8\n4,1.5,-,9\n5,-9.0,a,-\n"
	read := decode(t, text, Options{Missing: []string{"<0.006", "-9", "-"}, Verbatim: []string{"id"}})
	dose, site := read.Columns()[1], read.Columns()[2]
	require.Equal(t, Number, dose.Kind)
	require.Equal(t, 3, dose.Missing)
	require.Equal(t, Category, site.Kind)
	require.Equal(t, 2, site.Missing)
	for i, want := range []string{"-9", "7", "8", "9", "-"} {
		id := must.Of(read.Text(i, 3))(t)
		require.Equal(t, want, id)
	}
	without := decode(t, text, Options{})
	require.Zero(t, without.Columns()[1].Missing)

	// It is kept with what was learned, for rows to predict.
	d := choose(t, read, Wanted{Targets: []string{"y"}, Features: []string{"dose", "site"}})
	e := must.Of(d.Fit(d.Rows()))(t)
	require.Equal(t, []string{"<0.006", "-9", "-"}, e.Spellings)
	require.Equal(t, 1.0, e.Columns[0].Fill) // of 0.5 and 1.5
}

// A builder of tables of other formats does the same.
func TestBuiltMissingSpellings(t *testing.T) {
	b := NewBuilder("t", Options{Missing: []string{"-9", "none of these"}, Verbatim: []string{"id"}})
	b.Begin([]string{"a", "b", "id"}, 0, false)
	for i, v := range []float64{1, -9, math.NaN()} {
		b.Next()
		b.Number(0, v)
		b.Text(1, []string{"x", "none of these", "-9"}[i])
		b.Number(2, v)
	}
	built := b.end()
	require.Equal(t, 2, built.Columns()[0].Missing)
	require.Equal(t, 2, built.Columns()[1].Missing)
	require.Equal(t, 1, built.Columns()[2].Missing)
}

// A feature says that a number is missing where more than a twentieth of the rows lack it and as many have it.
func TestFeatureOfMissingNumbers(t *testing.T) {
	for _, c := range []struct {
		have int // of 40 rows
		want []string
	}{{1, []string{"a"}}, {2, []string{"a", "a=(missing)"}}, {37, []string{"a", "a=(missing)"}}, {38, []string{"a"}}} {
		var b strings.Builder
		b.WriteString("y,a\n")
		for i := range 40 {
			cell := ""
			if i < c.have {
				cell = fmt.Sprint(i * i % 7)
			}
			fmt.Fprintf(&b, "%d,%s\n", i%11, cell)
		}
		read := decode(t, b.String(), Options{})
		d := choose(t, read, Wanted{})
		e := must.Of(d.Fit(d.Rows()))(t)
		require.Equal(t, c.want, e.Features(), c.have)
	}
}
