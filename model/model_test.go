package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/table"
)

func sample() Model {
	validation, test := 2.0, 2.5
	return Model{
		Model: "elastic-net", Target: "y",
		Features: []string{"a", "b"}, Coefficients: []float64{0.1, -2}, Intercept: 1.0 / 3,
		Hyperparameters: map[string]float64{"lambda1": 0.5, "lambda2": 0}, Radii: []float64{1, 2},
		ValidationError: &validation, TestError: &test,
		Provenance: Provenance{Program: "conetune 0", Method: "vf-idca", Files: []string{"a.csv"}, Seed: 3},
	}
}

// samples are one model of each kind.
func samples() map[string]Model {
	svm, several, matrix := sample(), sample(), sample()
	svm.Model, svm.Labels = "svm", []float64{-1, 1}
	svm.Loss, svm.Deviations = &Loss{Kind: Hinge, ClassWeights: []float64{1, 2}}, []float64{0, 3}
	several.Model, several.Targets = "multi-task", []string{"y", "z"}
	several.Coefficients, several.Intercepts, several.Intercept = []float64{1, 2, 3, 4}, []float64{10, 20}, 0
	matrix.Model, matrix.Features, matrix.Coefficients = "matrix-completion", nil, nil
	matrix.Matrix = &Matrix{RowEffects: []float64{1, 2}, ColEffects: []float64{10}, Left: [][]float64{{1, 2}, {3, 4}},
		Right: [][]float64{{5, 6}}}
	encoded := sample()
	encoded.Features = []string{"a", "b=x"}
	encoded.Encoding = &table.Encoder{Rule: table.Median, Columns: []table.Coding{{Column: "a", Kind: table.Number,
		Fill: -1.5}, {Column: "b", Kind: table.Category, Levels: []string{"w", "x"}}}}
	return map[string]Model{"elastic-net": sample(), "encoded": encoded, "svm": svm, "multi-task": several,
		"matrix-completion": matrix}
}

func text(t *testing.T, m Model) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, m.Write(&b))
	return b.String()
}

func save(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestPredict(t *testing.T) {
	m := samples()
	elastic, svm, several, matrix := m["elastic-net"], m["svm"], m["multi-task"], m["matrix-completion"]
	v := must.Of(elastic.Predict([]float64{3, 4}))(t)
	require.InDelta(t, 1.0/3+0.3-8, v, 1e-15)
	v = must.Of(svm.Predict([]float64{3, 4}))(t)
	require.Equal(t, -1.0, v)
	values := must.Of(several.PredictTargets([]float64{100, 1000}))(t)
	require.Equal(t, []float64{10 + 100 + 3000, 20 + 200 + 4000}, values)
	v = must.Of(matrix.Entry(1, 0))(t)
	require.InDelta(t, 1.0/3+2+10+15+24, v, 1e-12)
}

// Scores by hand: residuals of 1, -3 and 0, a row without a target.
func TestScore(t *testing.T) {
	for _, c := range []struct {
		loss *Loss
		want float64
	}{
		{nil, (0.5 + 4.5) / 3},
		{&Loss{Kind: Huber, Threshold: 2}, (0.5 + 2*3 - 2) / 3},
		{&Loss{Kind: Pinball, Level: 0.25}, (0.75 + 0.25*3) / 3},
	} {
		m := sample()
		m.Loss = c.loss
		s := m.NewScore()
		s.Add(1, 0)
		s.Add(0, 3)
		s.Add(7, math.NaN())
		s.Add(5, 5)
		require.Equal(t, 3, s.Rows)
		require.InDelta(t, c.want, s.Error(), 1e-15)
	}
	m := samples()["svm"]
	s := m.NewScore()
	s.Add(0.5, 1)  // right, inside of the margin: 2 * 0.5
	s.Add(0.5, -1) // wrong: 1.5
	s.Add(-4, -1)  // right
	s.Add(4, 9)    // of no label
	require.Equal(t, []int{3, 1}, []int{s.Rows, s.Strange})
	require.InDelta(t, 1.0/3, s.Error(), 1e-15)
	require.InDelta(t, (2*0.5+1.5)/4, s.Loss(), 1e-15)
	m.Loss.Squared = true
	s = m.NewScore()
	s.Add(0.5, 1)
	s.Add(0.5, -1)
	s.Add(-4, -1)
	require.InDelta(t, (2*0.25+1.5*1.5)/4, s.Loss(), 1e-15)
	m.Loss = &Loss{Kind: Logistic}
	s = m.NewScore()
	s.Add(0.5, 1)
	s.Add(0.5, -1)
	require.InDelta(t, -(math.Log(evaluate.Probability(0.5))+math.Log(1-evaluate.Probability(0.5)))/2, s.Error(), 1e-15)
	require.Equal(t, 0.5, s.ErrorRate())
}

// A prediction that is too large for a number is an error, and no label either: the sum of the first row is
// infinite, that of the second is not a number.
func TestPredictOverflow(t *testing.T) {
	for _, row := range [][]float64{{1e308, -1e308}, {math.MaxFloat64, math.MaxFloat64}} {
		for name, m := range samples() {
			m.Coefficients = []float64{1e10, 1e10, 1e10, 1e10}[:len(m.Coefficients)]
			var err error
			switch name {
			case "multi-task":
				_, err = m.PredictTargets(row)
			case "matrix-completion":
				m.Matrix.Left[1] = row
				_, err = m.Entry(1, 0)
			default:
				_, err = m.Predict(row)
			}
			require.ErrorIs(t, err, ErrOverflow, name)
		}
	}
}

// The checksum is that of another program: sha256sum of the file without blanks, whose checksum is empty.
func TestChecksumOfContent(t *testing.T) {
	var flat bytes.Buffer
	s := text(t, sample())
	require.NoError(t, json.Compact(&flat, []byte(s)))
	before, after, found := strings.Cut(flat.String(), "sha256:")
	require.True(t, found)
	sum, rest := after[:64], after[64:]
	require.Equal(t, sum, fmt.Sprintf("%x", sha256.Sum256([]byte(before+rest))))
}

// Another layout of the same content is the same model; any other content is not.
func TestChecksum(t *testing.T) {
	s := text(t, sample())
	var compact bytes.Buffer
	for line := range strings.Lines(s) {
		compact.WriteString(strings.TrimSpace(line))
	}
	must.Of(Read(save(t, compact.String())))(t)
	for old, changed := range map[string]string{
		"-2": "-2.0000000000000004", `"y"`: `"z"`, `"a"`: `"A"`, `"seed": 3`: `"seed": 4`, `"lambda1": 0.5`: `"lambda3": 0.5`,
		"0.3333333333333333": "0.333333333333333",
	} {
		edited := strings.Replace(s, old, changed, 1)
		require.NotEqual(t, s, edited)
		path := save(t, edited)
		_, err := Read(path)
		require.EqualError(t, err, path+": the checksum does not match: the file was changed after it was saved")
	}
}

// Each line of a file is taken away, or there twice, or changed: what is another content is refused.
func TestStrict(t *testing.T) {
	refused := func(s, want string) {
		t.Helper()
		path := save(t, s)
		_, err := Read(path)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, path)
		require.NotContains(t, err.Error(), "\n")
	}
	for _, m := range samples() {
		s := text(t, m)
		for line := range strings.Lines(s) {
			name, value, found := strings.Cut(strings.TrimSpace(line), ": ")
			if empty := map[string]bool{"0,": true, "false,": true, "[],": true, `"",`: true}; !found || name == `"format"` ||
				name == `"version"` || empty[value] {
				continue
			}
			if simple := !strings.HasSuffix(value, "{") && !strings.HasSuffix(value, "["); simple &&
				strings.HasSuffix(value, ",") {
				_, err := Read(save(t, strings.Replace(s, line, "", 1)))
				require.ErrorContains(t, err, "checksum", line)
			}
		}
	}
	s := text(t, sample())
	for old, c := range map[string]struct{ changed, want string }{
		`"seed": 3`: {`"seed": "3"`,
			`field "provenance.seed" holds a JSON string, expected a value of type int64`},
		`"seed": 3,`:            {`"seed": 3, "seed": 4,`, "the checksum does not match"},
		`"intercept": 0.`:       {`"intercept": 1e999, "n": 0.`, `field "intercept" holds a JSON number 1e999`},
		`"version": 4`:          {`"version": 3`, "version 3 of the format, this program reads 4"},
		`"format": "conetune-m`: {`"format": "`, "not a model that conetune saved"},
		`"intercept": 0`:        {`"note": 1, "intercept": 0`, `unknown field "note"`},
		`"target": "y",`:        {"\"target\": \"y\",\n]", "invalid character ']'"},
	} {
		require.Contains(t, s, old)
		refused(strings.Replace(s, old, c.changed, 1), c.want)
	}
}

// What is no model is not written, and refused in a file that has the checksum of its content.
func TestNoModel(t *testing.T) {
	of := samples()
	of["multinomial"], of["cox"] = ofClasses(), ofTimes()
	for _, c := range []struct {
		of, want string
		spoil    func(*Model)
	}{
		{"elastic-net", `unknown model "banana"; known are: elastic-net, lasso`, func(m *Model) { m.Model = "banana" }},
		{"elastic-net", `field "coefficients" has 1 different entries, expected 2`,
			func(m *Model) { m.Coefficients = m.Coefficients[:1] }},
		{"elastic-net", `field "features" has 1 different entries, expected 2`,
			func(m *Model) { m.Features = []string{"a", "a"} }},
		{"elastic-net", "without features", func(m *Model) { m.Features, m.Coefficients = nil, nil }},
		{"elastic-net", `field "deviations" has 1`, func(m *Model) { m.Deviations = []float64{1} }},
		{"elastic-net", `field "labels"`, func(m *Model) { m.Labels = []float64{0, 1} }},
		{"elastic-net", `field "log_link"`, func(m *Model) { m.LogLink = true }},
		{"elastic-net", `field "loss"`, func(m *Model) { m.Loss = &Loss{Kind: Hinge} }},
		{"elastic-net", `field "loss" is missing in a model of quantile`, func(m *Model) { m.Model = "quantile" }},
		{"svm", `field "labels" is missing`, func(m *Model) { m.Labels = nil }},
		{"svm", `field "labels" has 1 different entries`, func(m *Model) { m.Labels = []float64{1, 1} }},
		{"svm", "1 class weights", func(m *Model) { m.Loss.ClassWeights = []float64{1} }},
		{"multinomial", `field "labels" has 2 entries`, func(m *Model) { m.Labels = []float64{0, 1} }},
		{"multinomial", `field "loss"`, func(m *Model) { m.Loss.Kind = Logistic }},
		{"multinomial", `field "intercepts" has 2 different entries, expected 3`,
			func(m *Model) { m.Intercepts = m.Intercepts[:2] }},
		{"multi-task", `field "targets" has 1 entries, expected several`, func(m *Model) {
			m.Targets, m.Intercepts, m.Coefficients = m.Targets[:1], m.Intercepts[:1], m.Coefficients[:len(m.Features)]
		}},
		{"matrix-completion", "factors of different lengths", func(m *Model) { m.Matrix.Left[1] = []float64{1} }},
		{"encoded", "an encoding of other features", func(m *Model) { m.Features[1] = "b=y" }},
		{"encoded", "an encoding without columns", func(m *Model) { m.Encoding.Columns = nil }},
		{"encoded", "an encoding of other features, labels", func(m *Model) { m.Encoding.Labels = []string{"no", "yes"} }},
		{"cox", `field "baseline"`, func(m *Model) { m.Baseline = nil }},
		{"cox", "a baseline hazard of 1 times and 2 values", func(m *Model) { m.Baseline.Times = m.Baseline.Times[:1] }},
		{"cox", `unknown rule "exact"`, func(m *Model) { m.Loss.Ties = "exact" }},
		{"cox", `the column of events "dead"`, func(m *Model) { m.Encoding.Event.Others = []string{"yes"} }},
	} {
		m := of[c.of]
		var copied Model // of which nothing is shared
		require.NoError(t, json.Unmarshal(sealed(t, m), &copied))
		copied.complete()
		copied.Format, copied.Version = Format, version
		c.spoil(&copied)
		var b bytes.Buffer
		require.ErrorContains(t, copied.Write(&b), c.want)
		require.Zero(t, b.Len())
		_, err := Decode(sealed(t, copied), "m.json")
		require.ErrorContains(t, err, c.want)
	}
	// Empty lists, which no model that is written has, are none either: there is no label of the largest of no values.
	m := ofClasses()
	m.Format, m.Version, m.Labels, m.Targets, m.Intercepts = Format, version, m.Labels[:1], nil, nil
	m.Coefficients = m.Coefficients[:len(m.Features)]
	m.complete()
	_, err := Decode(slices.Replace(sealed(t, m), 0, 1, []byte(`{"targets": [],`)...), "m.json")
	require.ErrorContains(t, err, `field "targets" has 0 entries, expected several`)
	m = sample()
	m.Coefficients[1] = math.NaN()
	require.ErrorContains(t, m.Write(&bytes.Buffer{}), "unsupported value: NaN")
}

// sealed is a file of a model, which Write might refuse, with its checksum.
func sealed(t *testing.T, m Model) []byte {
	t.Helper()
	m.Checksum = must.Of(m.checksum())(t)
	return must.Of(json.Marshal(m))(t)
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"\xff", "not text in UTF-8"},
		{"{\n\n\"format\": }", ":3: invalid character"},
		{"{", "unexpected end of JSON input"},
		{"{} {}", "after top-level value"},
		{"[1]", "holds a JSON array"},
		{`{"a":1}`, `its format is "", expected "conetune-model"`},
		{`{"format":"conetune-model","version":"4"}`, `field "version" holds a JSON string`},
		{`{"format":"conetune-model"}`, "version 0 of the format, this program reads 4"},
	} {
		path := save(t, c.text)
		_, err := Read(path)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, path)
		require.NotContains(t, err.Error(), "\n")
	}
	_, err := Read(t.TempDir())
	require.ErrorContains(t, err, "is a directory")
	_, err = Read(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorContains(t, err, "no such file")
}
