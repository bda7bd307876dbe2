package table

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

func choose(t *testing.T, table *Table, w Wanted) *Design {
	t.Helper()
	return must.Of(Choose(table, w))(t)
}

// read is a table through the encoder of some of its rows.
func readThrough(t *testing.T, d *Design, rows []int) (*Encoder, *Reading) {
	t.Helper()
	e := must.Of(d.Fit(rows))(t)
	r := must.Of(e.Read(d.table, d.Targets(), false))(t)
	return e, r
}

func texts(findings []Finding) string {
	var list []string
	for _, f := range findings {
		list = append(list, f.Text)
	}
	return strings.Join(list, "\n")
}

const people = "rownames,age,city,sex,when,seen,y\n" +
	"ann,20,Rome,f,1970-01-02,1,1\n" +
	"bob,,Oslo,m,1970-01-03,1,2\n" +
	"cid,50,Rome,m,,1,NA\n" +
	"dan,40,,f,1970-01-05,1,4\n" +
	"eve,30,Paris,f,1970-01-06,1,5\n"

// The matrix is written down by hand: the median of 20, 40 and 30 is 30, the dates are days 1, 2, 4 and 5.
func TestEncode(t *testing.T) {
	d := choose(t, decode(t, people, Options{}), Wanted{})
	require.Equal(t, []int{0, 1, 3, 4}, d.Rows())
	e, r := readThrough(t, d, d.Rows())
	require.Equal(t, []string{"age", "age=(missing)", "city=Paris", "city=Rome", "city=(missing)", "sex=m", "when",
		"seen"}, e.Features())
	want := []float64{
		20, 0, 0, 1, 0, 0, 1, 1,
		30, 1, 0, 0, 0, 1, 2, 1,
		40, 0, 0, 0, 1, 0, 4, 1,
		30, 0, 1, 0, 0, 0, 5, 1,
	}
	for _, sparse := range []bool{false, true} {
		data := r.Encode(r.Rows(), sparse)
		require.Equal(t, sparse, data.Sparse())
		require.Equal(t, want, data.Dense().RawMatrix().Data)
		require.Equal(t, []float64{1, 2, 4, 5}, data.Y)
		require.Equal(t, "y", data.Target)
		require.NoError(t, data.Validate())
	}
	require.Equal(t, `column "rownames": names or numbers of rows, no feature (Wanted.Labels none takes it all the same)
column "seen": the same number in all rows, which tells nothing
columns "city", "sex": categories, a feature for each level but the first
column "when": dates, taken as days since 1970-01-01
1 row without a target left out (line 4)
missing values in columns "age" (1, line 3), "when" (1, line 4): the median of the training rows is put in their place
missing values in column "city" (1, line 5): a level of their own where they are more than 5 % of the training rows, and else the reference`, texts(d.Findings()))

	// Learned from the first two rows alone, one with an age and one without: levels, the median, and what is missing.
	e, r = readThrough(t, d, []int{0, 1})
	require.Equal(t, []string{"age", "age=(missing)", "city=Rome", "sex=m", "when", "seen"}, e.Features())
	require.Equal(t, []float64{
		40, 0, 0, 0, 4, 1, // of no city: the reference, as the training rows have a city all
		30, 0, 0, 0, 5, 1, // Paris is the reference, too
	}, r.Encode([]int{3, 4}, false).Dense().RawMatrix().Data)
	require.Equal(t, `column "city" (1, line 6): levels that the training rows do not have, taken as the reference`,
		texts(r.Unseen()))
}

func TestMissingRules(t *testing.T) {
	table := decode(t, people, Options{})
	d := choose(t, table, Wanted{Missing: Mean, Features: []string{"age"}})
	e, _ := readThrough(t, d, d.Rows())
	require.Equal(t, []Coding{{Column: "age", Kind: Number, Fill: 30, Missing: true, Range: []float64{20, 40}}}, e.Columns)
	d = choose(t, table, Wanted{Missing: DropRows})
	require.Equal(t, []int{0, 4}, d.Rows())
	require.Contains(t, texts(d.Findings()), "2 rows with missing values left out (lines 3, 5)")
	e, r := readThrough(t, d, d.Rows())
	require.Equal(t, []string{"age", "city=Rome", "when"}, e.Features()[:3])
	require.Equal(t, []int{0, 4}, r.Rows())
	_, err := Choose(table, Wanted{Missing: Reject})
	require.EqualError(t, err, `f: 3 things are wrong
f:3: column 2 ("age"): 1 missing value (line 3), and Wanted.Missing is error
f:5: column 3 ("city"): 1 missing value (line 5), and Wanted.Missing is error
f:4: column 5 ("when"): 1 missing value (line 4), and Wanted.Missing is error`)
}

// Values for gaps are the medians of the training rows of each fold: 20 and 40, and 40 and 30.
func TestFolds(t *testing.T) {
	d := choose(t, decode(t, people, Options{}), Wanted{Features: []string{"sex", "age"}})
	_, r := readThrough(t, d, d.Rows())
	rows := r.Rows() // 0, 1, 3, 4
	folds := []split.Fold{{Train: []int{0, 2}, Val: []int{1, 3}}, {Train: []int{1, 2, 3}, Val: []int{0}}}
	cv := &dataset.CrossValidation{Data: r.Encode(rows, false), Folds: folds, Gaps: r.Gaps(rows, folds)}
	require.NoError(t, cv.Validate())
	require.Equal(t, []string{"age", "age=(missing)", "sex=m"}, cv.Data.Features)
	parts := cv.Parts()
	require.Equal(t, []float64{30, 1, 1, 30, 0, 0}, parts[0].Val.Dense().RawMatrix().Data)
	require.Equal(t, []float64{35, 1, 1, 40, 0, 0, 30, 0, 0}, parts[1].Train.Dense().RawMatrix().Data)
	complete := []int{0, 3, 4}
	require.Nil(t, r.Gaps(complete, nil))
}

func TestLabels(t *testing.T) {
	table := decode(t, "x,sick\n1,yes\n2,no\n3,\n4,yes\n", Options{})
	d := choose(t, table, Wanted{Targets: []string{"sick"}, Classes: true})
	e, r := readThrough(t, d, d.Rows())
	require.Equal(t, []string{"no", "yes"}, e.Labels)
	require.Equal(t, []float64{1, 0, 1}, r.Encode(r.Rows(), false).Y)
	other := decode(t, "sick,z,x\nno,1,2\nNA,2,3\nmaybe,2,3\n", Options{})
	_, err := e.Read(other, []string{"sick"}, false)
	require.EqualError(t, err, `f:4: column 1 ("sick"): the label "maybe" found, expected "no" or "yes"`)
	_, err = Choose(table, Wanted{Targets: []string{"sick"}})
	require.ErrorContains(t, err, `column 2 ("sick"): the target holds texts ("no", "yes"), expected numbers`)
	_, err = Choose(decode(t, "x,s\n1,a\n2,b\n3,c\n", Options{}), Wanted{Targets: []string{"s"}, Classes: true})
	require.ErrorContains(t, err, `the target has 3 labels ("a", "b", "c"), expected two`)
	d = choose(t, decode(t, "x,s\n1,3\n2,5\n4,3\n", Options{}), Wanted{Targets: []string{"s"}, Classes: true})
	_, r = readThrough(t, d, d.Rows())
	require.Equal(t, []float64{3, 5, 3}, r.Encode(r.Rows(), false).Y, "numbers are labels as they are")
}

// Columns are found by name; others pass; targets may be absent where they are optional.
func TestReadOther(t *testing.T) {
	d := choose(t, decode(t, people, Options{}), Wanted{Features: []string{"age", "city", "when"}})
	e, _ := readThrough(t, d, d.Rows())
	other := decode(t, "new,when,city,age\nx,1971-01-01,Rome,\"1,000\"\ny,1969-12-31,Bonn,\nz,,,7\n", Options{})
	r := must.Of(e.Read(other, []string{"y"}, true))(t)
	data := r.Encode(r.Rows(), false)
	require.Nil(t, data.Y)
	require.Equal(t, []float64{
		1000, 0, 0, 1, 0, 365,
		30, 1, 0, 0, 0, -1,
		7, 0, 0, 0, 1, 3, // the median of 1, 2, 4, 5
	}, data.Dense().RawMatrix().Data)
	_, err := e.Read(other, []string{"y"}, false)
	require.ErrorContains(t, err, `f:1: lacks column "y"; there are: "new", "when", "city", "age"`)
	_, err = e.Read(decode(t, "Age,when\n1,yesterday\n", Options{}), nil, true)
	require.EqualError(t, err, `f: 2 things are wrong
f:2: column 2 ("when"): "yesterday" found, expected a date such as 2006-01-02
f:1: lacks columns "age", "city"; there are: "Age", "when" (did you mean "Age"?)`)
	_, err = e.Read(decode(t, "age,city,when\n1,Rome,1970-01-01\nold,Rome,1970-01-01\n", Options{}), nil, true)
	require.EqualError(t, err,
		`f:3: column 1 ("age"): "old" found, expected a number, as the column has in the training rows`)
}

func TestChooseErrors(t *testing.T) {
	numbers := "a,b,price\n"
	for i := range 30 {
		numbers += formatNumber(float64(i)/4) + ",2,3\n2.25,4,5\n"
	}
	for _, c := range []struct {
		text string
		w    Wanted
		want string
	}{
		{numbers, Wanted{}, `f:1: has no column "y": name the target by Wanted.Targets; the columns are: "a", "b", "price"`},
		{numbers, Wanted{Targets: []string{"Price"}},
			`f:1: has no column "Price" for the target; there are: "a", "b", "price" (did you mean "price"?)`},
		{numbers, Wanted{Targets: []string{"price"}, Drop: []string{"c"}, Labels: []string{"d"}}, "2 things are wrong"},
		{numbers, Wanted{Targets: []string{"price"}, Drop: []string{"a", "b"}}, "no column that can be a feature"},
		{numbers, Wanted{Targets: []string{"price"}, Features: []string{"price"}},
			`"price" is wanted as a feature and is the target`},
		{numbers + "red,1,2\n3,4,inf\n", Wanted{Targets: []string{"price"}},
			`f: 2 things are wrong
f:63: column 3 ("price"): "inf" found, expected a finite number
f:62: column 1 ("a"): "red" found, expected a number: 61 numbers and 1 text (line 62); correct or empty these, or say by Options.Missing what stands for a missing value, or leave the column out by Wanted.Drop, or take it as a category by Wanted.Categorical`},
		{"a,y\n1,\n2,NA\n", Wanted{}, "the target is missing in all rows"},
	} {
		_, err := Choose(decode(t, c.text, Options{}), c.w)
		require.ErrorContains(t, err, c.want)
	}
	// What is wrong with columns that are not used is no error.
	choose(t, decode(t, numbers+"red,1,2\n", Options{}), Wanted{Targets: []string{"price"}, Drop: []string{"a"}})
	d := choose(t, decode(t, numbers+"red,1,2\n", Options{}), Wanted{Targets: []string{"price"}, Categorical: []string{"a",
		"b"}})
	e, _ := readThrough(t, d, d.Rows())
	require.Len(t, e.Features(), 30+2)
	require.Equal(t, []string{"a=0.25", "a=0.5"}, e.Features()[:2])
	require.Equal(t, []string{"a=red", "b=2", "b=4"}, e.Features()[29:])
}

func TestColumnsInUse(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,name,rating,zip,subject_id,twice,half,y\n")
	for i := range 100 {
		b.WriteString(strings.Join([]string{
			formatNumber(float64(i + 1)), "n" + formatNumber(float64(i)), []string{"1", "2", "3", "good"}[i%4],
			"z" + formatNumber(float64(i%60)), formatNumber(float64(1000 + 7*i%331)), formatNumber(float64(2 * i * i)),
			[]string{"a", "b"}[i/50], formatNumber(float64(i * i)),
		}, ",") + "\n")
	}
	d := choose(t, decode(t, b.String(), Options{}), Wanted{})
	e, _ := readThrough(t, d, d.Rows())
	require.Equal(t, []string{"rating=2", "rating=3", "rating=good", "twice", "half=b"}, e.Features())
	said := texts(d.Findings())
	for _, want := range []string{
		`columns "id", "subject_id": names or numbers of rows`, `columns "name" (100), "zip" (60): too many different texts`,
		`column "rating" (25, lines 5, 9, 13, ..): numbers, and texts as counted here, taken as a category`,
		`column "twice" says the target by itself`,
	} {
		require.Contains(t, said, want)
	}
	d = choose(t, decode(t, b.String(), Options{}), Wanted{Labels: []string{"subject_id"},
		Features: []string{"id", "zip"}})
	e, _ = readThrough(t, d, d.Rows())
	require.Len(t, e.Features(), 1+59)
}

// Numbers of things are no features where each row has its own and the name says so, unless all columns are wanted;
// others that look so are hinted at.
func TestNumbersOfThings(t *testing.T) {
	text := "a,id,b_id,customerId,Sample ID,PASSENGER ID,x.id,valid,grid,obs,rapid,y\n"
	of := func(i int) string { return formatNumber(float64(1000 + 7*(i*11%23))) }
	for i := range 23 {
		text += strings.Repeat(of(i)+",", 11) + formatNumber(float64(i*i%17)) + "\n"
	}
	table := decode(t, text, Options{})
	d := choose(t, table, Wanted{})
	e, _ := readThrough(t, d, d.Rows())
	require.Equal(t, []string{"a", "valid", "grid", "obs", "rapid"}, e.Features())
	require.Contains(t, texts(d.Findings()),
		`columns "id", "b_id", "customerId", "Sample ID", "PASSENGER ID", "x.id": names or numbers of rows, no feature (Wanted.Labels none takes it all the same)`)
	require.Contains(t, texts(d.Findings()),
		`column "obs" looks like a number of rows: Wanted.Labels or Wanted.Drop leaves it out`)
	e, _ = readThrough(t, choose(t, table, Wanted{Labels: []string{"none"}}), d.Rows())
	require.Len(t, e.Features(), 11)
	e, _ = readThrough(t, choose(t, table, Wanted{Labels: []string{"a"}}), d.Rows())
	require.NotContains(t, e.Features(), "id")
	// What counts the rows is told as such, from 0 as pandas writes them, too.
	for first, want := range []string{"0, 1, 2, ..", "1, 2, 3, .."} {
		counted := "k,a,y\n"
		for i := range 9 {
			counted += formatNumber(float64(first+i)) + "," + of(i) + "," + formatNumber(float64(i*i%7)) + "\n"
		}
		d := choose(t, decode(t, counted, Options{}), Wanted{})
		require.Equal(t, `column "k": counts the rows, `+want+`, no feature (Wanted.Labels none takes it all the same)`,
			texts(d.Findings()))
	}
	// A number that two rows have is one of groups, and numbers that are no integers are measured.
	for _, id := range []string{"1,2,3,3", "1.5,2,3,4"} {
		cells := strings.Split(id, ",")
		e, _ = readThrough(t,
			choose(t, decode(t, "a,id,y\n1,"+cells[0]+",1\n3,"+cells[1]+",3\n2,"+cells[2]+",2\n5,"+cells[3]+",4\n", Options{}),
				Wanted{}), []int{0, 1, 2, 3})
		require.Equal(t, []string{"a", "id"}, e.Features())
	}
}

// Days since 1970 by date -u -d DAY +%s, divided by 86400; weekdays are those of 2000.
func TestDatesWithWeekdays(t *testing.T) {
	for text, want := range map[string]float64{
		"Jan 1 2000": 10957, "January  3 2000": 10959, "Mon, 3 Jan 2000": 10959, "Monday 3 January 2000": 10959,
		"MON 3-Jan-2000": 10959, "Tues., Jan 4, 2000": 10960,
		"Thursday, January 6 2000": 10962, "Sun 2000-01-02": 10958, "Mon, 03 Jan 2000 12:00:00 GMT": 10959.5,
		"Mon, 03 Jan 2000 12:00:00 +0000": 10959.5, "Monday, 03-Jan-00 06:00:00 UTC": 10959.25,
		// the second of January, and the first of February
		"Mon Jan  3 18:00:00 2000": 10959.75, "Tuesday 1/2/2000": 10988, "Sunday 1/2/2000": 10958,
	} {
		table := decode(t, "when;y\n"+text+";1\n"+text+";2\n", Options{})
		require.Equal(t, Date, table.columns[0].Kind, text)
		require.InDelta(t, want, table.columns[0].value(table.cell(1, 0)), 1e-9, text)
	}
	for _, text := range []string{"Mon", "Monday", "Tue, 3 Jan 2000", "Mo 3 Jan 2000", "Mont 3 Jan 2000", "Mon,3 Jan 2000",
		"Mon, 3"} {
		require.Equal(t, Category, decode(t, "when;y\n"+text+";1\n"+text+";2\n", Options{}).columns[0].Kind, text)
	}
	// Weekdays may stand before some dates of a column; a model reads dates of its layout with and without them.
	table := decode(t, "when;y\nMon 3 Jan 2000;1\n4 Jan 2000;2\nWed 5 Jan 2000;4\n", Options{})
	e, r := readThrough(t, choose(t, table, Wanted{}), []int{0, 1, 2})
	require.Equal(t, "2 Jan 2006", e.Columns[0].Layout)
	require.Equal(t, []float64{10959, 10960, 10961}, r.Encode(r.Rows(), false).Dense().RawMatrix().Data)
}

// A model that was saved with other spellings of truth values, before they were one, reads and predicts the same.
func TestTruthOfOldModels(t *testing.T) {
	e := &Encoder{Columns: []Coding{{Column: "a", Kind: Category, Levels: []string{"FALSE", "TRUE"}}}, Rule: Median,
		Labels: []string{"false", "true"}}
	for _, o := range []Options{{}, {Verbatim: []string{"a"}}} {
		r := must.Of(e.Read(decode(t, "a,y\nTRUE,False\ntrue,FALSE\nTrue,TRUE\nfalse,true\n", o), []string{"y"}, false))(t)
		data := r.Encode(r.Rows(), false)
		require.Equal(t, []float64{1, 1, 1, 0}, data.Dense().RawMatrix().Data)
		require.Equal(t, []float64{0, 0, 1, 1}, data.Y)
		require.Empty(t, r.Unseen())
	}
	v := &Event{Value: "TRUE"}
	require.Empty(t, v.choose([]string{"False", "True"}))
	require.Equal(t, "True", v.Value)
}

// What a column of numbers and texts is: the cells of one in 40 rows, of which some are numbers.
func TestNumbersAndTexts(t *testing.T) {
	for name, c := range map[string]struct {
		cell func(i int) string
		want string
	}{
		"slip": {func(i int) string { return []string{formatNumber(float64(i) / 4), "1.2.3"}[i/39] }, Mixed},
		"unknown": {func(i int) string { return []string{formatNumber(float64(i) / 4), "unknown"}[i%2*(i%3)%2] },
			Mixed},
		"cylinders": {func(i int) string { return []string{formatNumber(float64(2 * (i % 4))), "rotary"}[i/39] },
			Category},
		"codes":    {func(i int) string { return []string{formatNumber(float64(100 + i)), "136A"}[i/36] }, Category},
		"one code": {func(i int) string { return []string{formatNumber(float64(100 + i)), "1O5"}[i/39] }, Mixed},
		"bounds":   {func(i int) string { return []string{formatNumber(float64(100 + i)), ">90"}[i/30] }, Mixed},
		"names of cars": {func(i int) string { return []string{"model " + formatNumber(float64(i)), "90"}[i/38] },
			Category},
		"end of a DOS file": {func(i int) string { return formatNumber(float64(i)) + []string{"", "\x1a"}[i/39] }, Number},
	} {
		text := "x,y\n"
		for i := range 40 {
			text += c.cell(i) + ",1\n"
		}
		require.Equal(t, c.want, decode(t, text, Options{}).columns[0].Kind, name)
	}
}

func TestSeveralTargets(t *testing.T) {
	d := choose(t, decode(t, "a,u,v\n1,2,3\n4,5,6\n2,NA,3\n", Options{}), Wanted{Targets: []string{"v", "u"}})
	_, r := readThrough(t, d, d.Rows())
	require.Equal(t, [][]float64{{3, 6}, {2, 5}}, r.Targets(r.Rows()))
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		zeros  int
		want   float64
	}{
		{[]float64{3, 1, 2}, 0, 2}, {[]float64{4, 1, 3, 2}, 0, 2.5}, {nil, 0, 0}, {nil, 3, 0}, {[]float64{5}, 1, 2.5},
		{[]float64{-5, 7}, 1, 0},
		{[]float64{5, 6, 7}, 2, 5}, {[]float64{5, 6, 7}, 3, 2.5}, {[]float64{5, 6, 7}, 4, 0}, {[]float64{-1, -2, -3, 9}, 2,
			-0.5}, {[]float64{1, 1, 1, 1}, 0, 1},
	} {
		require.InDelta(t, c.want, median(slices.Clone(c.values), c.zeros), 1e-15, "%v", c)
	}
}

// Medians of many rows are those of sorted ones, whatever their order and ties.
func TestMedianOfColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const n = 5000
	for _, zeros := range []int{0, 12} {
		var text []byte // whose cells are kept without zeros where these are most
		columns := make([][]float64, 4+zeros)
		for j := range columns {
			text = append(strconv.AppendInt(append(text, 'x'), int64(j), 10), ',')
		}
		text[len(text)-1] = '\n'
		for i := range n {
			row := []float64{random.NormFloat64(), float64(random.IntN(3)), float64(i), float64(i % 17 * (i % 17 / 16))}
			for j, v := range append(row, make([]float64, zeros)...) {
				columns[j] = append(columns[j], v)
				text = append(strconv.AppendFloat(text, v, 'g', -1, 64), ',')
			}
			text[len(text)-1] = '\n'
		}
		table := decode(t, string(text), Options{})
		require.Equal(t, zeros > 0, table.compressed())
		for j, got := range table.summaries(indices.Range(0, n), indices.Range(0, len(columns)), Median) {
			slices.Sort(columns[j])
			require.Equal(t, summary{(columns[j][n/2-1] + columns[j][n/2]) / 2, columns[j][0], columns[j][n-1]}, got, "column %d", j)
		}
	}
}

func TestLooseNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"12%": 12, "$5": 5, "-$5": -5, "$-5": -5, "5 €": 5, "1,234.5": 1234.5, "1 234": 1234, "1'234'567": 1234567, "(3)": -3,
		"−4": -4, "+1,000": 1000, "3 EUR": 3,
	} {
		v, _, ok := looseNumber(text, '.')
		require.True(t, ok, text)
		require.Equal(t, want, v, text)
	}
	for text, want := range map[string]float64{"1.234,5": 1234.5, "1.234": 1234, "1,5": 1.5, "12,5 %": 12.5} {
		v, _, ok := looseNumber(text, ',')
		require.True(t, ok, text)
		require.Equal(t, want, v, text)
	}
	for _, text := range []string{"", "%", "$", "()", "(3", "1,23", "12,34,567", "0,123", "--5", "1-2", "a", "5 x",
		"1e400", "inf", "nan", "1.2.3", "- -5"} {
		v, _, ok := looseNumber(text, '.')
		require.False(t, ok, "%s is %v", text, v)
	}
	for _, text := range []string{"1.5", "1.23,4"} {
		_, _, ok := looseNumber(text, ',')
		require.False(t, ok, text)
	}
}

func TestEncoderValidate(t *testing.T) {
	good := Encoder{Columns: []Coding{{Column: "a", Kind: Number}, {Column: "b", Kind: Category,
		Levels: []string{"x", "y"}}}}
	require.NoError(t, good.Validate())
	for want, e := range map[string]Encoder{
		"without columns":   {},
		"is of the kind":    {Columns: []Coding{{Column: "a", Kind: "spam"}}},
		"has a level twice": {Columns: []Coding{{Column: "a", Kind: Category, Levels: []string{"x", "x"}}}},
		"expected a finite": {Columns: []Coding{{Column: "a", Kind: Number, Fill: math.NaN()}}},
		"two features have": {Columns: []Coding{{Column: "a=x", Kind: Number}, {Column: "a", Kind: Category,
			Levels: []string{"w", "x"}}}},
		"expected two that di": {Columns: good.Columns, Labels: []string{"a", "a"}},
	} {
		require.ErrorContains(t, e.Validate(), want)
	}
}
