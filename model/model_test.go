package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
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

func ofClasses() Model {
	return Model{
		Model: "multinomial", Target: "kind", Features: []string{"a"}, Coefficients: []float64{1, 0, -1},
		Targets: []string{"x", "y", "z"}, Intercepts: []float64{0, 0.5, 0},
		Labels: []float64{0, 1, 2}, Loss: &Loss{Kind: Multinomial},
	}
}

// A model of classes comes back as it was written, and predicts, scores and gives probabilities by the definition.
func TestClasses(t *testing.T) {
	m := ofClasses()
	var text bytes.Buffer
	require.NoError(t, m.Write(&text))
	got := must.Of(ReadFrom(&text, "m.json"))(t)
	require.True(t, got.Classes())
	values := must.Of(got.PredictTargets([]float64{2}))(t)
	require.Equal(t, []float64{2, 0.5, -2}, values)
	require.Equal(t, 0.0, got.Class(values))
	total := math.Exp(2) + math.Exp(0.5) + math.Exp(-2)
	require.InDelta(t, math.Exp(0.5)/total, evaluate.Softmax(values)[1], 1e-15)
	s := got.NewScore()
	s.AddTargets(values, []float64{1}, 1)
	s.AddTargets(values, []float64{7}, 1)
	s.AddTargets(values, []float64{math.NaN()}, 1)
	require.Equal(t, 1, s.Rows)
	require.Equal(t, 1, s.Strange)
	require.InDelta(t, math.Log(total)-0.5, s.Error(), 1e-15)
	require.Equal(t, 1.0, s.ErrorRate())
}

// A coefficient is chosen by the fits in which it counts, whatever the unit of its feature.
func TestStability(t *testing.T) {
	rows := &dataset.Data{X: mat.NewDense(3, 2, []float64{1, 1000, 2, 3000, 4, 2000}), Y: []float64{1, 2, 3}}
	fit := func(a, b float64) problems.Fit {
		return problems.Fit{Features: []string{"a", "b"}, Coefficients: []float64{a, b}}
	}
	fits := []problems.Fit{fit(1, 1e-5), fit(1e-12, 1), fit(0, 0)}
	require.InDeltaSlice(t, []float64{1. / 3, 2. / 3}, Stability(fits, rows.Deviations()), 1e-15)
}

// Effects compare coefficients by the units of their features, with several targets by the norm over these.
func TestEffects(t *testing.T) {
	f := problems.Fit{Features: []string{"a", "b", "c"}, Coefficients: []float64{2, -3, 0}}
	require.Equal(t, []Effect{{"a", 0, 2, 20}, {"b", 1, -3, 3}}, Effects(f, Sizes(f, []float64{10, 1, 5})))
	require.Equal(t, []Effect{{"b", 1, -3, 3}, {"a", 0, 2, 2}}, Effects(f, Sizes(f, nil)))
	f.Targets, f.Coefficients = []string{"y", "z"}, []float64{3, 4, 0, 0, 1, 0}
	require.Equal(t, []Effect{{"c", 2, 1, 10}, {"a", 0, 3, 5}}, Effects(f, Sizes(f, []float64{1, 1, 10})))
}

func ofTimes() Model {
	return Model{
		Model: "cox", Target: "days", Features: []string{"a"}, Coefficients: []float64{0.5}, Intercept: -1,
		Loss:     &Loss{Kind: Cox, Ties: "efron"},
		Baseline: &survival.Baseline{Times: []float64{1, 4}, Hazard: []float64{0.1, 0.3}},
		Encoding: &table.Encoder{Columns: []table.Coding{{Column: "a", Kind: table.Number}}, Rule: table.Median,
			Event: &table.Event{Column: "dead", Value: "yes", Others: []string{"no"}}},
	}
}

// A model of times comes back as it was written, and scores rows by their deviance for each event: of times 1, 2 and 3,
// the second one censored, log of the three risks over the first one, twice.
func TestTimes(t *testing.T) {
	m := ofTimes()
	var text bytes.Buffer
	require.NoError(t, m.Write(&text))
	got := must.Of(ReadFrom(&text, "m.json"))(t)
	require.True(t, got.Times())
	require.Equal(t, m.Baseline, got.Baseline)
	require.Equal(t, m.Encoding, got.Encoding)
	s := got.NewScore()
	for k, y := range []float64{1, -2, 3, math.NaN()} {
		s.Add(float64(k), y)
	}
	require.Equal(t, 3, s.Rows)
	require.InDelta(t, math.Log(1+math.E+math.Exp(2)), s.Error(), 1e-14) // half of it for each of the two events
	c, _ := s.Concordance()
	require.Zero(t, c)
}

// Predictions have the digits of the model's own numbers, where terms cancel, too.
func TestPredictionsOfTermsThatCancel(t *testing.T) {
	m := &Model{Intercept: 643688.7179539967, Coefficients: []float64{-320.23394762995736, -10.313724931308853}}
	for year := range 10 {
		row := []float64{float64(1995 + year), 63.1}
		exact := big.NewFloat(m.Intercept).SetPrec(400)
		for j, v := range row {
			exact.Add(exact, new(big.Float).SetPrec(400).Mul(big.NewFloat(v), big.NewFloat(m.Coefficients[j])))
		}
		want, _ := exact.Float64()
		got := must.Of(m.Predict(row))(t)
		require.Equal(t, want, got)
	}
}

// wide is a model of many features with three coefficients that are not zero.
func wide(named bool) Model {
	m := sample()
	m.Features, m.Coefficients = libsvm.Names(100_000), make([]float64, 100_000)
	if named {
		m.Features[7] = "other"
	}
	m.Coefficients[0], m.Coefficients[4], m.Coefficients[99_999] = 1.5, -2, 1.0/3
	return m
}

// A file of many zeros is small, unless the features have names of their own, and gives back the model.
func TestCompact(t *testing.T) {
	for _, named := range []bool{false, true} {
		m := wide(named)
		s := text(t, m)
		if !named {
			require.Less(t, len(s), 2000)
		}
		require.Contains(t, s, `"compact"`)
		got := must.Of(Decode([]byte(s), "m.json"))(t)
		require.Equal(t, m.Features, got.Features)
		require.Equal(t, m.Coefficients, got.Coefficients)
		require.Nil(t, got.Compact)
		require.Equal(t, s, text(t, *got))
	}
	m := wide(false)
	for j := range m.Coefficients {
		m.Coefficients[j] = 1
	}
	require.NotContains(t, text(t, m), `"compact"`)
}

// What is no compact model is refused: numbers that do not rise or are too large, and lists of different lengths.
func TestCompactStrict(t *testing.T) {
	for want, c := range map[string]Compact{
		"feature 3 after 3, expected rising numbers up to 200": {Features: 200, Index: []int{3, 3}, Coefficients: []float64{1,
			1}},
		"feature 0 after 0":            {Features: 200, Index: []int{0}, Coefficients: []float64{1}},
		"feature 201 after 0":          {Features: 200, Index: []int{201}, Coefficients: []float64{1}},
		"1 coefficients for 2 of them": {Features: 200, Index: []int{1, 2}, Coefficients: []float64{1}},
		"-1 features, expected from 0": {Features: -1},
		"expected from 0 to 20000000":  {Features: 2_000_000_000, Index: []int{1}, Coefficients: []float64{1}},
		"2 names of 200 features":      {Features: 200, Names: []string{"a", "b"}},
	} {
		m := sample()
		m.complete()
		m.Format, m.Version, m.Features, m.Coefficients, m.Compact = Format, version, nil, nil, &c
		_, err := Decode(sealed(t, m), "m.json")
		require.ErrorContains(t, err, want)
	}
}

// FuzzRead: no bytes make the reader panic; what it takes is written and read back the same; and a model that it took
// predicts finite numbers or says that it cannot.
func FuzzRead(f *testing.F) {
	for _, m := range samples() {
		var b bytes.Buffer
		require.NoError(f, m.Write(&b))
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"format":"conetune-model","version":4,"model":"svm"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode(text, "m.json")
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		var b bytes.Buffer
		require.NoError(t, m.Write(&b))
		again := must.Of(Decode(b.Bytes(), "m.json"))(t)
		m.complete()
		m.Version, m.Checksum = again.Version, again.Checksum
		require.Equal(t, m, again)

		row := slices.Repeat([]float64{1}, len(m.Features))
		var values []float64
		switch {
		case m.Matrix != nil:
			var v float64
			v, err = m.Entry(len(m.Matrix.RowEffects)-1, len(m.Matrix.ColEffects)-1)
			values = []float64{v}
		case m.Targets != nil:
			values, err = m.PredictTargets(row)
		default:
			var v float64
			v, err = m.Predict(row)
			values = []float64{v}
		}
		for _, v := range values {
			require.False(t, math.IsNaN(v) || math.IsInf(v, 0), "%v, error %v", v, err)
		}
	})
}
