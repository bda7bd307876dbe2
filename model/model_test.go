package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	matrix.Matrix = &Matrix{RowEffects: []float64{1, 2}, ColEffects: []float64{10}, Left: [][]float64{{1, 2}, {3, 4}}, Right: [][]float64{{5, 6}}}
	encoded := sample()
	encoded.Features = []string{"a", "b=x"}
	encoded.Encoding = &table.Encoder{Rule: table.Median, Columns: []table.Coding{{Column: "a", Kind: table.Number, Fill: -1.5}, {Column: "b", Kind: table.Category, Levels: []string{"w", "x"}}}}
	return map[string]Model{"elastic-net": sample(), "encoded": encoded, "svm": svm, "multi-task": several, "matrix-completion": matrix}
}

func text(t *testing.T, m Model) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, m.Write(&b))
	return b.String()
}

// first is a file of version 1, which has no checksum.
func first(t *testing.T, m Model) string {
	t.Helper()
	s := regexp.MustCompile(`,\n  "checksum": "[^"]*"`).ReplaceAllString(text(t, m), "")
	return strings.Replace(s, `"version": 2`, `"version": 1`, 1)
}

func save(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestRoundTrip(t *testing.T) {
	for name, m := range samples() {
		require.Equal(t, text(t, m), text(t, m))
		for version, s := range map[int]string{1: first(t, m), 2: text(t, m)} {
			got, err := Read(save(t, s))
			require.NoError(t, err, name)
			want := m
			want.complete()
			want.Format, want.Version, want.Checksum = Format, version, got.Checksum
			require.Equal(t, want, *got)
			require.Equal(t, version == 2, got.Checksum != "")
		}
	}
}

func TestPredict(t *testing.T) {
	m := samples()
	elastic, svm, several, matrix := m["elastic-net"], m["svm"], m["multi-task"], m["matrix-completion"]
	v, err := elastic.Predict([]float64{3, 4})
	require.NoError(t, err)
	require.InDelta(t, 1.0/3+0.3-8, v, 1e-15)
	v, err = svm.Predict([]float64{3, 4})
	require.NoError(t, err)
	require.Equal(t, -1.0, v)
	values, err := several.PredictTargets([]float64{100, 1000})
	require.NoError(t, err)
	require.Equal(t, []float64{10 + 100 + 3000, 20 + 200 + 4000}, values)
	v, err = matrix.Entry(1, 0)
	require.NoError(t, err)
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
	m.Loss = &Loss{Kind: Logistic}
	s = m.NewScore()
	s.Add(0.5, 1)
	s.Add(0.5, -1)
	require.InDelta(t, -(math.Log(m.Probability(0.5))+math.Log(1-m.Probability(0.5)))/2, s.Error(), 1e-15)
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

// The values of a document are those that encoding/json finds.
func TestParseAgainstJSON(t *testing.T) {
	var plain func(v *value) any
	plain = func(v *value) any {
		switch v.kind {
		case anObject:
			m := map[string]any{}
			for i, name := range v.names {
				m[name] = plain(v.items[i])
			}
			return m
		case anArray:
			list := []any{}
			for _, item := range v.items {
				list = append(list, plain(item))
			}
			return list
		case aString:
			return v.text
		case aNumber:
			return json.Number(v.text)
		case aBool:
			return v.text == "true"
		}
		return nil
	}
	for _, text := range []string{
		`{}`, `[]`, ` [ [ ] , { } ] `, `0`, `-1.5e+3`, `"a"`, "\n null\n", `[true,false,null]`, `{"a":1,"b":[2,3.0,{"c":-0}],"":""}`,
		`"\"\\\u00e9\ud83d\ude00,:]}"`, `{"a\"b": "c\\", "d,e": "f:g"}`, "[\"\xff\",\"\u2028\",\"é\"]", "{\r\n\t\"x\" :\n[1 ,2\n]}", `"\ud800"`,
	} {
		v, err := parse([]byte(text))
		require.NoError(t, err, text)
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var want any
		require.NoError(t, dec.Decode(&want), text)
		require.Equal(t, want, plain(v), text)
	}
	v, err := parse([]byte("[\n1,\n\n[2\n],\n3]"))
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 4, 4, 6}, []int{v.line, v.items[0].line, v.items[1].line, v.items[1].items[0].line, v.items[2].line})
}

// The checksum is known from another program: that of sha256sum on the canonical text, written by hand.
func TestChecksumOfContent(t *testing.T) {
	v, err := parse([]byte(`{"b": [1, 2.50, -1e3, true, null], "checksum": "x", "a": {"z": "t\u00e9\"", "y": 1e21}}`))
	require.NoError(t, err)
	out, err := v.canonical(nil)
	require.NoError(t, err)
	require.Equal(t, `{"a":{"y":1000000000000000000000,"z":"té\""},"b":[1,2.5,-1000,true,null],"checksum":"x"}`, string(out))
	sum, err := v.checksum()
	require.NoError(t, err)
	// printf '{"a":{"y":1000000000000000000000,"z":"té\\""},"b":[1,2.5,-1000,true,null]}' | sha256sum
	require.Equal(t, "sha256:461001d86e64694b812a10dc5ca1761536be112663b4a0e23bd4cec5db20a0d3", sum)
}

// Another layout of the same content is the same model; any other content is not.
func TestChecksum(t *testing.T) {
	s := text(t, sample())
	var compact bytes.Buffer
	for line := range strings.Lines(s) {
		compact.WriteString(strings.TrimSpace(line))
	}
	_, err := Read(save(t, compact.String()))
	require.NoError(t, err)
	for old, changed := range map[string]string{
		"-2": "-2.0000000000000004", `"y"`: `"z"`, `"a"`: `"A"`, `"seed": 3`: `"seed": 4`, `"lambda1": 0.5`: `"lambda3": 0.5`, "0.3333333333333333": "0.333333333333333",
	} {
		edited := strings.Replace(s, old, changed, 1)
		require.NotEqual(t, s, edited)
		path := save(t, edited)
		_, err := Read(path)
		line := 1 + strings.Count(edited[:strings.Index(edited, `"checksum"`)], "\n")
		require.EqualError(t, err, fmt.Sprintf("%s:%d: the checksum does not match: the file was changed after it was saved", path, line))
	}
}

// Each field of a file is changed in turn, in version 1, where no checksum helps.
func TestStrict(t *testing.T) {
	lines := strings.SplitAfter(first(t, sample()), "\n")
	at := func(name string) int {
		for i, l := range lines {
			if strings.HasPrefix(strings.TrimSpace(l), `"`+name+`":`) {
				return i
			}
		}
		t.Fatalf("no field %q", name)
		return 0
	}
	edited := func(i int, line string) string {
		return strings.Join(append(append(append([]string{}, lines[:i]...), line), lines[i+1:]...), "")
	}
	refused := func(s, want string) {
		t.Helper()
		path := save(t, s)
		_, err := Read(path)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, path)
		require.NotContains(t, err.Error(), "\n")
	}
	for _, name := range []string{"model", "target", "intercept", "validation_error", "test_error"} {
		i := at(name)
		refused(edited(i, ""), fmt.Sprintf(`:1: field %q is missing`, name))
		refused(edited(i, lines[i]+lines[i]), fmt.Sprintf(`:%d: field %q is there twice, first on line %d`, i+2, name, i+1))
		refused(edited(i, lines[i]+strings.Replace(lines[i], name, strings.ToUpper(name), 1)), fmt.Sprintf(`:%d: unknown field %q`, i+2, strings.ToUpper(name)))
		refused(edited(i, fmt.Sprintf("%q: [],\n", name)), fmt.Sprintf(`:%d: field %q holds a JSON array`, i+1, name))
	}
	for _, name := range []string{"model", "target", "intercept"} {
		refused(edited(at(name), fmt.Sprintf("%q: null,\n", name)), fmt.Sprintf(`:%d: field %q holds a JSON null, expected a JSON `, at(name)+1, name))
	}
	for _, name := range []string{"features", "coefficients", "radii", "hyperparameters", "provenance"} {
		i := at(name)
		refused(edited(i, strings.Replace(lines[i], name, "note", 1)), `field "`+name+`" is missing`)
		for k := i; ; k++ { // all of its lines
			if end := strings.TrimSpace(lines[k]); strings.HasPrefix(lines[k], "  ]") || strings.HasPrefix(lines[k], "  }") {
				whole := strings.Join(lines[i:k+1], "")
				comma := map[bool]string{true: ","}[strings.HasSuffix(end, ",")]
				refused(strings.Replace(strings.Join(lines, ""), whole, fmt.Sprintf("%q: null%s\n", name, comma), 1), fmt.Sprintf(`:%d: field %q holds a JSON null`, i+1, name))
				break
			}
		}
	}
	refused(edited(at("coefficients")+1, "null,\n"), `field "coefficients[0]" holds a JSON null, expected a JSON number`)
	refused(edited(at("intercept"), `"intercept": 1e999,`), `field "intercept": the number 1e999 is out of range`)
	refused(edited(at("seed"), `"seed": -1,`), `field "provenance.seed" is -1, expected a whole number that is not negative`)
	refused(edited(at("seed"), ""), `field "provenance.seed" is missing`)
	refused(edited(at("iterations"), `"iterations": 1.5,`), `field "provenance.iterations" is 1.5`)
	refused(edited(at("model"), `"model": "banana",`), fmt.Sprintf(`:%d: unknown model "banana"; known are: elastic-net, lasso`, at("model")+1))
	refused(edited(at("target"), lines[at("target")]+`"targets": [],`), `field "targets" is an empty list`)
	refused(edited(at("target"), lines[at("target")]+`"labels": [1, 1],`), "two labels of the value 1")
	refused(edited(at("version"), `"version": 4,`), "version 4 of the format, this program reads 1 to 3")
	refused(edited(at("version"), `"version": 2,`), `field "checksum" is missing`)
	refused(edited(at("version"), ""), `field "version" is missing`)
	refused(edited(len(lines)-1, `},"checksum":"x"}`), "invalid character")
}

func TestReadErrors(t *testing.T) {
	head := `{"format":"conetune-model","version":1,`
	for _, c := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"\xff", "not text in UTF-8"},
		{"{\n\n\"format\": }", ":3: invalid character"},
		{"{", "unexpected end of JSON input"},
		{"{} {}", "after top-level value"},
		{"[1]", "holds a JSON array"},
		{`{"a":1}`, `its format is "", expected "conetune-model"`},
		{head + strings.Repeat(`"a":{`, 20) + strings.Repeat("}", 21), "more than 16 deep"},
		{`{"format":"conetune-model","version":"2"}`, "version a JSON string of the format, this program reads 1 to 3"},
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

// An encoding must lead to the features and labels of the model.
func TestEncodingOfOthers(t *testing.T) {
	for want, spoil := range map[string]func(*Model){
		"an encoding of other features":               func(m *Model) { m.Features[1] = "b=y" },
		"an encoding without columns":                 func(m *Model) { m.Encoding.Columns = nil },
		`an encoding of the labels ["no" "yes"], exp`: func(m *Model) { m.Encoding.Labels = []string{"no", "yes"} },
	} {
		m := samples()["encoded"]
		spoil(&m)
		require.ErrorContains(t, m.Write(&bytes.Buffer{}), want)
	}
}

func TestWriteRejectsWhatReadWould(t *testing.T) {
	for want, spoil := range map[string]func(*Model){
		"1 coefficients for 2 features":         func(m *Model) { m.Coefficients = m.Coefficients[:1] },
		`two features of the name "a"`:          func(m *Model) { m.Features = []string{"a", "a"} },
		"without features":                      func(m *Model) { m.Features, m.Coefficients = nil, nil },
		"coefficients holds NaN":                func(m *Model) { m.Coefficients[1] = math.NaN() },
		"hyperparameters.lambda1 holds +Inf":    func(m *Model) { m.Hyperparameters["lambda1"] = math.Inf(1) },
		`the loss "hinge" does not belong`:      func(m *Model) { m.Loss = &Loss{Kind: Hinge} },
		`a loss of the kind "cubes"`:            func(m *Model) { m.Loss = &Loss{Kind: "cubes"} },
		`the loss "pinball" with the level 1`:   func(m *Model) { m.Loss = &Loss{Kind: Pinball, Level: 1} },
		`the loss "huber" with the threshold 0`: func(m *Model) { m.Loss = &Loss{Kind: Huber} },
		`the loss "huber" with 2 class weights`: func(m *Model) { m.Loss = &Loss{Kind: Huber, Threshold: 1, ClassWeights: []float64{1, 1}} },
		"1 deviations for 2 features":           func(m *Model) { m.Deviations = []float64{1} },
		"1 targets in a list, expected several": func(m *Model) { m.Targets = []string{"y"} },
		"two of labels, targets, a matrix and a logarithmic link": func(m *Model) {
			m.Labels, m.Matrix = []float64{0, 1}, samples()["matrix-completion"].Matrix
		},
	} {
		m := sample()
		spoil(&m)
		var b bytes.Buffer
		require.ErrorContains(t, m.Write(&b), want)
		require.Zero(t, b.Len())
	}
}
