package table

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// suspected are the hints about a table whose rows are written by a function.
func suspected(t *testing.T, header string, w Wanted, row func(i int) string) (hints []string) {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range 40 {
		b.WriteString(row(i) + "\n")
	}
	table := decode(t, b.String(), Options{})
	for _, f := range choose(t, table, w).Findings() {
		if f.Kind == "hint" {
			hints = append(hints, f.Text)
		}
	}
	return hints
}

// Numbers that may stand for missing values are told, and those that go on from the others are not.
func TestMissingCodes(t *testing.T) {
	for _, c := range []struct {
		code, step, every int
		hint              bool
	}{{-999, 1, 9, true}, {9999, 3, 13, true}, {-99, 1, 7, true}, {999, 30, 9, false}, {-998, 1, 9, false},
		{-999, 1, 39, true}, {-999, 1, 40, false}, {999, 1, 1, false}} {
		hints := suspected(t, "y,a", Wanted{}, func(i int) string {
			v := c.step * (i * 7 % 41)
			if i%c.every == 0 {
				v = c.code
			}
			return fmt.Sprintf("%d,%d", i*i%17, v)
		})
		if !c.hint {
			for _, text := range hints {
				require.NotContains(t, text, "missing value", c)
			}
			continue
		}
		require.Len(t, hints, 1, c)
		require.Contains(t, hints[0], fmt.Sprintf("column \"a\" (%d, line", (39+c.every)/c.every))
		require.Contains(t, hints[0], fmt.Sprintf("%[1]d, far from all other values, is read as a number; if it stands for "+
			"a missing value, Options.Missing %[1]d says so", c.code))
	}
}

// A target that does not vary and labels that differ in their letters alone are told; an event that all rows have is
// none of these.
func TestSuspectTargets(t *testing.T) {
	require.Empty(t, suspected(t, "time,event,a", Wanted{Survival: true},
		func(i int) string { return fmt.Sprintf("%d,1,%d", 1+i*5%37, i*7%41) }))
	labels := func(names ...string) []string {
		return suspected(t, "y,a", Wanted{Classes: true, MostClasses: 9},
			func(i int) string { return fmt.Sprintf("%s,%d", names[i%len(names)], i*11%41) })
	}
	require.Equal(
		t, []string{`labels of the target: "Rose" and "rose" differ in the case of letters or in blanks alone, and may mean the same`}, labels("rose", "tulip", "Rose"))
	require.Empty(t, labels("rose", "tulip", "roses"))
}

// Those that are too many for a category are told, too, though they are no feature.
func TestManyUnits(t *testing.T) {
	text := "y,patient,a\n"
	for i := range 240 {
		text += fmt.Sprintf("%d,p%d,%d\n", i*i%17, i%60, i*7%13)
	}
	table := decode(t, text, Options{})
	var all []string
	for _, f := range choose(t, table, Wanted{}).Findings() {
		all = append(all, f.Text)
	}
	require.Contains(t, all,
		`column "patient" (60): too many different texts for a category, left out (Wanted.Categorical takes it all the same)`)
	require.Contains(t, all,
		`column "patient" names what several rows are about: Division.Group keeps the rows of each together, so that errors are those of new ones`)
}

// Errors about names say where these are none of the file, and those about labels what takes them.
func TestMoreToSay(t *testing.T) {
	for _, c := range []struct {
		text string
		w    Wanted
		want string
	}{
		{"1.5,2.5\n3,4.5\n5.5,7\n", Wanted{}, `the columns are: "x1", "x2"; the first line holds data, not names`},
		{"1.5,2.5\n3,4.5\n5.5,7\n", Wanted{Targets: []string{"price"}},
			`there are: "x1", "x2"; the first line holds data, not names`},
		{"a,y\n1,u\n2,v\n3,w\n", Wanted{}, "multinomial takes several texts as labels"},
		{"a,y\n1,u\n2,v\n3,u\n", Wanted{}, "logistic and svm take two texts as labels"},
		{"a,y\n1,no\n2,yes\n3,Yes\n", Wanted{Classes: true}, `"Yes" and "yes" differ in the case of letters`},
	} {
		table := decode(t, c.text, Options{})
		_, err := Choose(table, c.w)
		require.ErrorContains(t, err, c.want)
	}
}

// A feature that by its name and its repeats says what several rows are about is told, unless it divides the rows or
// does not repeat.
func TestUnits(t *testing.T) {
	const hint = `names what several rows are about`
	for _, c := range []struct {
		name  string
		units int
		text  string
		hint  bool
	}{{"subject", 8, "", true}, {"Patient_ID", 8, "p", true}, {"id", 20, "", true}, {"id", 21, "", false},
		{"subject", 4, "", false}, {"subjective", 8, "", false}, {"acid", 8, "", false}, {"dose", 8, "", false}} {
		row := func(i int) string { return fmt.Sprintf("%d,%s%d,%d", i*i%17, c.text, i%c.units, i*7%13) }
		hints := strings.Join(suspected(t, "y,"+c.name+",a", Wanted{}, row), "; ")
		require.Equal(t, c.hint, strings.Contains(hints, hint), "%v: %s", c, hints)
		require.NotContains(t, strings.Join(suspected(t, "y,"+c.name+",a", Wanted{Division: Division{Group: c.name}}, row),
			"; "), hint)
	}
}

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
	b := newBuilder("t", Options{Missing: []string{"-9", "none of these"}, Verbatim: []string{"id"}})
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
