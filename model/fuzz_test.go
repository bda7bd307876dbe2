package model

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

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
