package table

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

// trained are the rows of testdata/forms.csv that are those of training.
var trained = indices.Range(0, 40)

// ofR are the columns of testdata/forms-r.csv.
func ofR(t *testing.T) map[string][]float64 {
	lines := must.Of(csv.NewReader(must.Of(os.Open("testdata/forms-r.csv"))(t)).ReadAll())(t)
	out := map[string][]float64{}
	for _, line := range lines[1:] {
		for k, name := range lines[0] {
			out[name] = append(out[name], must.Of(strconv.ParseFloat(line[k], 64))(t))
		}
	}
	return out
}

// formed are all rows of testdata/forms.csv, with columns of these forms as training rows teach them.
func formed(t *testing.T, f Forms) (*dataset.Data, *Encoder) {
	d := choose(t, must.Of(Read("testdata/forms.csv", Options{}))(t), Wanted{Forms: f})
	e, r := readThrough(t, d, trained)
	return r.Encode(r.Rows(), false), e
}

// column are the values of a feature.
func column(t *testing.T, d *dataset.Data, name string) []float64 {
	j := slices.Index(d.Features, name)
	require.GreaterOrEqual(t, j, 0, "%s of %q", name, d.Features)
	return mat.Col(nil, j, d.X)
}

// Least squares on a constant and a spline are those of R's ns, inside of the knots and outside, and the columns of a
// polynomial those of poly at a deviation of 1; of both they are orthogonal.
func TestSplinesAndPolynomialsOfR(t *testing.T) {
	want := ofR(t)
	for _, df := range []int{2, 4, 7} {
		d, e := formed(t, Forms{Splines: []string{fmt.Sprintf("x=%d", df)}})
		x := mat.NewDense(50, df+1, nil)
		for k, name := range append([]string{""}, e.Columns[0].Features()...) {
			for i := range 50 {
				if x.Set(i, k, 1); name != "" {
					x.Set(i, k, column(t, d, name)[i])
				}
			}
		}
		require.Equal(t, column(t, d, "x"), mat.Col(nil, 1, x))
		train := x.Slice(0, 40, 0, df+1)
		var b, fit mat.VecDense
		require.NoError(t, b.SolveVec(train, mat.NewVecDense(40, d.Y[:40])))
		fit.MulVec(x, &b)
		require.InDeltaSlice(t, want[fmt.Sprintf("ns%d", df)], fit.RawVector().Data, 1e-9)
		orthogonal(t, train)
	}
	d, e := formed(t, Forms{Polynomials: []string{"x=3"}})
	require.Equal(t, []string{"x", "x(polynomial2)", "x(polynomial3)"}, e.Columns[0].Features())
	for k := 2; k <= 3; k++ {
		require.InDeltaSlice(t, want[fmt.Sprintf("poly%d", k)], column(t, d, fmt.Sprintf("x(polynomial%d)", k)), 1e-10)
	}
}

// orthogonal says whether all columns after the first two have mean square 1 and are orthogonal to all others.
func orthogonal(t *testing.T, x mat.Matrix) {
	var gram mat.Dense
	gram.Mul(x.T(), x)
	_, p := x.Dims()
	for j := 2; j < p; j++ {
		for k := range p {
			require.InDelta(t, map[bool]float64{true: 40}[j == k], gram.At(j, k), 1e-8)
		}
	}
}

// Interactions are the columns of R's model.matrix, parts of dates those of its calendar.
func TestInteractionsAndDatesOfR(t *testing.T) {
	want := ofR(t)
	d, _ := formed(t, Forms{Interactions: []string{"x:z", "town:x", "town:heat", "x:town:heat"},
		Dates: []string{Covered}})
	for name, other := range map[string]string{"x:z": "x:z", "town=Kiel:x": "x:townKiel", "town=Ulm:x": "x:townUlm",
		"town=Kiel:heat=oil": "townKiel:heatoil", "town=Ulm:heat=oil": "townUlm:heatoil",
		"x:town=Ulm:heat=oil": "x:townUlm:heatoil"} {
		require.InDeltaSlice(t, want[other], column(t, d, name), 1e-10, name)
	}
	require.InDeltaSlice(t, want["sin"], column(t, d, "when(season.sin)"), 1e-10)
	require.InDeltaSlice(t, want["year"], column(t, d, "when(year)"), 2/daysOfYear)
	for k, day := range []string{"Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
		for i, v := range column(t, d, "when(weekday)="+day) {
			require.Equal(t, int(want["wday"][i]) == (k+2)%7, v == 1)
		}
	}
	require.NotContains(t, d.Features, "when(hour.sin)")
	pairs, _ := formed(t, Forms{Interactions: []string{"x", "z", "heat"}})
	require.Equal(t, []string{"x:z", "x:heat=oil", "z:heat=oil"}, pairs.Features[len(pairs.Features)-3:])
	// Sparse rows have the same.
	e, r := readThrough(t, choose(t, must.Of(Read("testdata/forms.csv", Options{}))(t), Wanted{Forms: Forms{
		Interactions: []string{"town:x"}, Splines: []string{"x=3"}, Ordered: []string{"heat"}, Dates: []string{Days, Season},
	}}), trained)
	require.Equal(t, r.Encode(r.Rows(), false).Dense().RawMatrix().Data, r.Encode(r.Rows(), true).Dense().RawMatrix().Data)
	require.Contains(t, e.Features(), "town=Kiel:x(spline2)")
}

// A reference is the level without a feature; of ordered levels a feature is 1 from its level on.
func TestReferenceAndOrder(t *testing.T) {
	file := decode(t, "size,town,stars,y\nlow,A,3,1\nmid,B,1,2\nhigh,C,2,3\nlow,B,3,4\n,A,1,5\n", Options{})
	d := choose(t, file, Wanted{Missing: Level, Forms: Forms{Reference: []string{"town=B"},
		Ordered: []string{"size=low:mid:high", "stars"}}})
	e, r := readThrough(t, d, d.Rows())
	require.Equal(t, []string{"size>=mid", "size>=high", "size=(missing)", "town=A", "town=C", "stars>=2", "stars>=3"},
		e.Features())
	require.Equal(t, []float64{
		0, 0, 0, 1, 0, 1, 1,
		1, 0, 0, 0, 0, 0, 0,
		1, 1, 0, 0, 1, 1, 0,
		0, 0, 0, 0, 0, 1, 1,
		0, 0, 1, 1, 0, 0, 0,
	}, r.Encode(r.Rows(), false).Dense().RawMatrix().Data)
}

// gapped is testdata/forms.csv without x in every fifth row.
func gapped(t *testing.T) *Table {
	lines := strings.Split(string(must.Of(os.ReadFile("testdata/forms.csv"))(t)), "\n")
	for i := 1; i < 51; i += 5 {
		lines[i] = lines[i][strings.Index(lines[i], ","):]
	}
	return decode(t, strings.Join(lines, "\n"), Options{})
}

// Ridge solves the normal equations, of few features and of many.
func TestRidge(t *testing.T) {
	for p, n := range map[int]int{2: 5, 4: 4, 7: 3} {
		z, y := mat.NewDense(p, n, nil), mat.NewVecDense(n, nil)
		z.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(3*i + 7*j)) }, z)
		for i := range n {
			y.SetVec(i, float64(i*i-2))
		}
		b := ridge(z, y)
		var back, image, right mat.VecDense
		image.MulVec(z.T(), b)
		back.MulVec(z, &image)
		back.AddVec(&back, b)
		right.MulVec(z, y)
		require.InDeltaSlice(t, right.RawVector().Data, back.RawVector().Data, 1e-12)
	}
}

// A regression puts what scikit-learn's Ridge(alpha=1) predicts in the place of gaps, see testdata/forms.py.
func TestRegressionOfScikitLearn(t *testing.T) {
	d := choose(t, gapped(t), Wanted{Missing: Regression, Drop: []string{"when"}})
	e, r := readThrough(t, d, trained)
	want := []float64{4.6644517677103146, 6.677869515255953, 4.7938985624740145, 6.288970568743652, 4.879218941762709,
		4.994176570230287, 4.235057060160826, 3.1192822535428912, 5.215227569271211, 4.196516266897848}
	x := column(t, r.Encode(r.Rows(), false), "x")
	for k, v := range want {
		require.InDelta(t, v, x[5*k], 1e-12)
	}
	require.Len(t, e.Columns[0].Others.Weights, 4)
}

// What rows of a fold become is what its training rows alone teach: the same as that of a table without other rows, and
// no change of other rows changes it.
func TestFoldsLearnOfTheirTrainingRows(t *testing.T) {
	w := Wanted{Missing: Regression, Forms: Forms{Splines: []string{"x=3"}, Polynomials: []string{"z=2"},
		Interactions: []string{"x:town", "z:heat"}}}
	d := choose(t, gapped(t), w)
	_, r := readThrough(t, d, d.Rows())
	rows := r.Rows()
	folds := split.FoldsOf([][]int{indices.Range(0, 10), indices.Range(10, 30), indices.Range(30, 50)})
	for _, sparse := range []bool{false, true} {
		cv := &dataset.CrossValidation{Data: r.Encode(rows, sparse), Folds: folds, Gaps: r.Gaps(rows, folds)}
		require.NoError(t, cv.Validate())
		for k, part := range cv.Parts() {
			_, alone := readThrough(t, d, folds[k].Train)
			for _, side := range []struct {
				got  *dataset.Data
				rows []int
			}{{part.Train, folds[k].Train}, {part.Val, folds[k].Val}} {
				want := alone.Encode(side.rows, false)
				require.Equal(t, want.Features, side.got.Features)
				require.InDeltaSlice(t, want.Dense().RawMatrix().Data, side.got.Dense().RawMatrix().Data, 1e-12)
			}
		}
	}
	e, _ := readThrough(t, d, trained)
	changed := gapped(t)
	for i := 40; i < 50; i++ {
		_, cells := changed.row(i)
		cells[0], cells[1] = 1e6, -1e6
	}
	other, _ := readThrough(t, choose(t, changed, w), trained)
	require.Equal(t, e, other)
}

// A range of one number, or of few different ones, is no division by zero.
func TestFewNumbers(t *testing.T) {
	for _, kind := range []string{Spline, Polynomial} {
		for _, x := range [][]float64{{3, 3, 3}, {1, 1, 1, 1, 2}, {0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5}} {
			b := newBasis(kind, 4).of(x)
			for _, v := range append(x, -7, 1e6) {
				for _, e := range b.append(nil, 0, v) {
					require.False(t, math.IsNaN(e.value) || math.IsInf(e.value, 0))
				}
			}
		}
	}
	// Ties: knots at quantiles of the different numbers 0 to 5.
	b := newBasis(Spline, 4).of([]float64{0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5})
	require.InDelta(t, 1.25, b.Functions[5].At, 1e-15)
}

// A table of mostly zeros, of which the others are kept, has the same features: products, a spline that is not 0 at 0,
// and ordered levels.
func TestFormsOfMostlyZeros(t *testing.T) {
	text, x := strings.Builder{}, func(i, j int) float64 {
		if i%7 == j%7 || j == 1 && i%4 == 0 {
			return float64(1 + i%5 + j)
		}
		return 0
	}
	text.WriteString("y,a,b,c,d,e,f,g,h\n")
	for i := range 60 {
		text.WriteString(strconv.Itoa(i))
		for j := range 8 {
			fmt.Fprintf(&text, ",%g", x(i, j))
		}
		text.WriteString("\n")
	}
	file := decode(t, text.String(), Options{})
	index, _ := file.row(1)
	require.NotNil(t, index)
	d := choose(t, file, Wanted{Forms: Forms{Splines: []string{"a=3"}, Ordered: []string{"c"},
		Interactions: []string{"b:d", "a:b"}}})
	_, r := readThrough(t, d, d.Rows())
	rows := r.Encode(r.Rows(), true)
	require.Equal(t, rows.Dense().RawMatrix().Data, r.Encode(r.Rows(), false).Dense().RawMatrix().Data)
	spline, dense := column(t, rows, "a(spline2)"), mat.NewDense(60, 3, nil)
	for i := range 60 {
		require.Equal(t, x(i, 1)*x(i, 3), column(t, rows, "b:d")[i])
		require.Equal(t, spline[i]*x(i, 1), column(t, rows, "a(spline2):b")[i])
		require.Equal(t, x(i, 2) >= 5, column(t, rows, "c>=5")[i] == 1)
		dense.SetRow(i, []float64{1, x(i, 0), spline[i]})
	}
	var gram mat.Dense
	gram.Mul(dense.T(), dense)
	require.InDeltaSlice(t, []float64{0, 0, 60}, gram.RawRowView(2), 1e-9)
}

// What forms cannot be is one error.
func TestFormErrors(t *testing.T) {
	file := must.Of(Read("testdata/forms.csv", Options{}))(t)
	for want, f := range map[string]Forms{
		`f:1: Forms.Splines "x=1": expected NAME=D, with D from 2 to 20`:  {Splines: []string{"x=1"}},
		`f:1: has no column "q" for Forms.Polynomials`:                    {Polynomials: []string{"q=3"}},
		`column 3 ("town"): is a category, expected numbers for a spline`: {Splines: []string{"town=3"}},
		`Forms.Polynomials "x=2": the column has another form`: {Splines: []string{"x=3"},
			Polynomials: []string{"x=2"}},
		`no row has the level "Rom" of Forms.Reference; the levels are "Bonn"`: {Reference: []string{"town=Rom"}},
		`has numbers, expected a category for Forms.Reference`:                 {Reference: []string{"x=3"}},
		`has the level "Ulm", which Forms.Ordered does not name`:               {Ordered: []string{"town=Bonn:Kiel"}},
		`Forms.Ordered "town=A:A": expected NAME=LOW:..:HIGH or NAME`:          {Ordered: []string{"town=A:A"}},
		`Forms.Dates has "moon", expected some of days, year`:                  {Dates: []string{"moon"}},
		`Forms.Interactions has "x" alone`:                                     {Interactions: []string{"x"}},
		`Forms.Interactions "x:x": expected names of columns`:                  {Interactions: []string{"x:x"}},
		`column 6 ("y"): is no feature, and has no part in Forms.Interactions`: {Interactions: []string{"x:y"}},
	} {
		_, err := Choose(file, Wanted{Forms: f})
		require.ErrorContains(t, err, strings.TrimPrefix(want, "f:1: "))
		require.NotContains(t, err.Error(), "things are wrong")
	}
	_, err := Choose(file, Wanted{Drop: []string{"when"}, Forms: Forms{Dates: []string{Year}}})
	require.ErrorContains(t, err, "no feature is a date, for Forms.Dates")
	few := choose(t, decode(t, "a,y\n1,1\n2,2\n1,3\n3,4\n", Options{}), Wanted{Forms: Forms{Splines: []string{"a=3"}}})
	_, err = few.Fit(few.Rows())
	require.ErrorContains(t, err, `column "a": 3 different numbers in the training rows, expected more than the 3 of its `+
		`spline`)
	require.Contains(t, fmt.Sprint(LookAt(few.table, few.wanted).Findings), `column "a": 3 different numbers`)
}
