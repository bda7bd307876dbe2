package modelfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func sample() Model {
	test := 2.5
	return Model{
		Model: "elastic-net", Target: "y",
		Features: []string{"a", "b"}, Coefficients: []float64{0.1, -2}, Intercept: 1.0 / 3,
		Hyperparameters: map[string]float64{"lambda1": 0.5, "lambda2": 0}, Radii: []float64{1, 2},
		ValidationError: 2, TestError: &test,
		Provenance: Provenance{Program: "conetune 0", Method: "vf-idca", Files: []string{"a.csv"}, Seed: 3},
	}
}

func save(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestRoundTrip(t *testing.T) {
	var a, b bytes.Buffer
	require.NoError(t, sample().Write(&a))
	require.NoError(t, sample().Write(&b))
	require.Equal(t, a.String(), b.String())
	m, err := Read(save(t, a.String()))
	require.NoError(t, err)
	want := sample()
	want.Format, want.Version = Format, Version
	require.Equal(t, want, *m)
	require.InDelta(t, 1.0/3+0.3-8, m.Predict([]float64{3, 4}), 1e-15)
}

func TestReadErrors(t *testing.T) {
	head := `{"format":"conetune-model","version":1,`
	for _, c := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"{\n\n\"format\": }", ":3: invalid character"},
		{"{", "unexpected end of JSON input"},
		{"[1]", "holds a JSON array"},
		{`{"a":1}`, `its format is "", expected "conetune-model"`},
		{`{"format":"conetune-model","version":2}`, "version 2 of the format, this program reads 1 to 1"},
		{head + `"features":[]}`, "without features"},
		{head + `"features":["a"],"coefficients":[1,2]}`, "2 coefficients for 1 features"},
		{head + `"features":["a","a"],"coefficients":[1,2]}`, `two features of the name "a"`},
		{head + "\n" + `"features":["a"],"coefficients":["x"]}`, `:2: field "coefficients`},
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

func TestWriteRejectsWhatReadWould(t *testing.T) {
	m := sample()
	m.Coefficients = m.Coefficients[:1]
	var b bytes.Buffer
	require.ErrorContains(t, m.Write(&b), "1 coefficients for 2 features")
	require.Zero(t, b.Len())
}
