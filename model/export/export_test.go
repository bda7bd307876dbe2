package export_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/model/export"
	"github.com/conetune/conetune/table"
)

// visits is a model of two labels with columns of all kinds, and a decision.
func visits() *model.Model {
	threshold := 0.3
	encoding := &table.Encoder{Rule: table.Median, Spellings: []string{"-999", "k. A."}, Labels: []string{"no", "it's"},
		Columns: []table.Coding{
			{Column: `na"me`, Kind: table.Number, Fill: 2.5, Missing: true},
			{Column: "select", Kind: table.Category, Levels: []string{"a", "or'1", "東京", "y y", "True", "2"}, Missing: true},
			{Column: "when", Kind: table.Date, Fill: 12000, Layout: "2.1.2006 15:04"},
			{Column: "unused", Kind: table.Number},
		}}
	return &model.Model{Model: "logistic", Target: "ill", Features: encoding.Features(),
		Coefficients: []float64{0.25, -1.5, 0.75, 2, -0.5, -1.25, 0.375, 0.5, 0.0001220703125, 0}, Intercept: -1.5,
		Labels: []float64{0, 1}, Threshold: &threshold, Loss: &model.Loss{Kind: model.Logistic}, Encoding: encoding,
		Provenance: model.Provenance{Program: "conetune 0", Method: "grid", Backend: "native", Status: "converged"}}
}

// shaped is a model of a spline, ordered levels, parts of dates, interactions, and gaps that other columns fill.
func shaped() *model.Model {
	power := func(at, scale float64, n int) table.Function {
		return table.Function{Kind: table.Power, At: at, Scale: scale, Power: n}
	}
	ramp := func(at, limit float64, n int) table.Function {
		return table.Function{Kind: table.Ramp, At: at, Scale: 4, Limit: limit, Power: n}
	}
	encoding := &table.Encoder{Rule: table.Regression, Interactions: [][]string{{"x", "size"}, {"when", "size"}},
		Columns: []table.Coding{
			{Column: "x", Kind: table.Number, Fill: 2, Missing: true, Basis: &table.Basis{Kind: table.Spline,
				Names: []string{"", "(spline2)"},
				Functions: []table.Function{power(0, 1, 1), power(1, 4, 0), power(1, 4, 1), ramp(5, 0, 1), ramp(1, 1, 3),
					ramp(3, 0.5, 3)},
				Weights: [][]float64{{1, 0, 0, 0, 0, 0}, {0, 0.5, -1, 1.5, 1, -2}}},
				Others: &table.Sum{Constant: 1, Weights: []table.Weight{{Feature: "size>=mid", Weight: 0.5},
					{Feature: "when(year)", Weight: 0.001}}}},
			{Column: "size", Kind: table.Category, Levels: []string{"low", "mid", "3"}, Ordered: true},
			{Column: "when", Kind: table.Date, Fill: 12000, Layout: "2006-01-02", Basis: &table.Basis{Kind: table.Parts,
				Names: []string{"(year)", "(season.sin)", "(season.cos)", "(weekday)=Tue"},
				Functions: []table.Function{power(-719528, 365.25, 1), {Kind: table.Sine, Scale: 365.25},
					{Kind: table.Cosine, Scale: 365.25}, {Kind: table.Weekday, At: 1}},
				Weights: [][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}}},
		}}
	m := &model.Model{Model: "lasso", Target: "y", Features: encoding.Features(), Intercept: -1.5, Encoding: encoding,
		Provenance: model.Provenance{Program: "conetune 0", Method: "grid", Backend: "native", Status: "converged"}}
	for j := range m.Features {
		m.Coefficients = append(m.Coefficients, float64(j%5)/4-0.375)
	}
	return m
}

// fixtures are files of testdata, written anew where CONETUNE_UPDATE_EXPORTS is set; then bench/export.py --model
// model/export/testdata/visits.json --data model/export/testdata/visits.csv runs what is exported.
func fixture(t *testing.T, name string, got []byte) {
	path := filepath.Join("testdata", name)
	if os.Getenv("CONETUNE_UPDATE_EXPORTS") != "" {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), name)
}

// What is exported is what bench/export.py has run in onnxruntime and pypmml; tests of the command run the others.
func TestFixtures(t *testing.T) {
	for name, m := range map[string]*model.Model{"visits": visits(), "forms": shaped()} {
		var b bytes.Buffer
		require.NoError(t, m.Write(&b))
		fixture(t, name+".json", b.Bytes())
		for _, target := range []string{"onnx", "pmml"} {
			b.Reset()
			require.NoError(t, export.Write(&b, m, target, export.Options{}))
			fixture(t, name+"."+target, b.Bytes())
		}
	}
}

// A program has only the columns that the model uses, and the texts that mean a level.
func TestProgram(t *testing.T) {
	p, err := export.New(visits())
	require.NoError(t, err)
	require.Len(t, p.Inputs, 3)
	require.Equal(t, []string{"prediction", "probability_no", "probability_it's"}, p.Outputs)
	require.Equal(t, []string{"TRUE", "True", "true"}, p.Inputs[1].Levels[3].Texts)
	require.Equal(t, 2.0, p.Inputs[1].Levels[4].Number)
	require.Equal(t, []float64{0.5}, p.Inputs[1].Gap)
	require.Equal(t, []float64{-999}, p.Numbers)
}

// What cannot be exported is said.
func TestErrors(t *testing.T) {
	var b bytes.Buffer
	require.EqualError(t, export.Write(&b, visits(), "cobol", export.Options{}),
		`unknown language "cobol"; known are: python, r, sql, pmml, onnx, go`)
	require.ErrorContains(t, export.Write(&b, visits(), "go", export.Options{Package: "a b"}), "is no name of a package")
	several := &model.Model{Model: "multi-task", Targets: []string{"a", "b"}, Features: []string{"x"},
		Coefficients: []float64{1, 2}, Intercepts: []float64{0, 1}}
	require.ErrorContains(t, export.Write(&b, several, "pmml", export.Options{}), "has one target")
	matrix := &model.Model{Model: "matrix-completion", Matrix: &model.Matrix{}}
	require.ErrorContains(t, export.Write(&b, matrix, "sql", export.Options{}), "predicts the entries of one matrix")
	constant := &model.Model{Model: "lasso", Target: "y", Features: []string{"x"}, Coefficients: []float64{0},
		Intercept: 2}
	require.ErrorContains(t, export.Write(&b, constant, "onnx", export.Options{}), "predicts a constant")
	require.NoError(t, export.Write(&b, constant, "python", export.Options{}))
	require.False(t, strings.Contains(b.String(), `("x"`))
}

// A saved model as a SELECT.
func ExampleWrite() {
	m := &model.Model{
		Model: "lasso", Target: "rent", Features: []string{"area", "town=Ulm"}, Coefficients: []float64{8.5, -20},
		Intercept: 300, Provenance: model.Provenance{Program: "conetune 0.1.0"},
		Encoding: &table.Encoder{Rule: table.Median, Columns: []table.Coding{
			{Column: "area", Kind: table.Number, Fill: 60},
			{Column: "town", Kind: table.Category, Levels: []string{"Bonn", "Ulm"}},
		}},
	}
	var text bytes.Buffer
	if err := export.Write(&text, m, "sql", export.Options{Table: "flats"}); err != nil {
		log.Fatal(err)
	}
	fmt.Print(text.String())
	// Output:
	// -- rent of lasso, exported by conetune 0.1.0.
	// -- Columns are numbers, texts and dates YYYY-MM-DD HH:MM:SS; NULL is a missing value.
	// SELECT *,
	//   score_1 AS "prediction"
	// FROM (SELECT *,
	//   810.0
	//     + CASE WHEN "area" IS NULL THEN 0.0 ELSE 8.5 * (CAST("area" AS DOUBLE PRECISION) - 60.0) END
	//     + CASE "town" WHEN 'Ulm' THEN -20.0 ELSE 0.0 END AS "score_1"
	// FROM "flats") AS scored;
}
