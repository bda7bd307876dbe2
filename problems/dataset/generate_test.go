package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/internal/must"
)

// The covariance of two columns estimated from n normal rows has a standard error of at
// most sqrt(2/n).
func TestGenerateCovariance(t *testing.T) {
	const n, p = 20000, 8
	for _, c := range []struct {
		config Config
		r      float64
	}{{Config{}, 0.5}, {Config{Independent: true}, 0}} {
		c.config.Train, c.config.Val, c.config.Features = n, 1, p
		s := must.First(Generate(c.config, 3))(t)
		var cov mat.SymDense
		stat.CovarianceMatrix(&cov, s.Train.X, nil)
		for j := range p {
			require.InDelta(t, 0, stat.Mean(mat.Col(nil, j, s.Train.X), nil), 4/math.Sqrt(n))
			for k := range p {
				want := math.Pow(c.r, math.Abs(float64(j-k)))
				require.InDelta(t, want, cov.At(j, k), 4*math.Sqrt(2.0/n), "columns %d, %d", j, k)
			}
		}
	}
}

// signalToNoise is |Xb| / |y - Xb| over the rows of all sets.
func signalToNoise(s *Split, b mat.Vector, y func(d *Data) mat.Vector) float64 {
	signal, noise := 0.0, 0.0
	for _, set := range s.sets() {
		if set.data == nil {
			continue
		}
		var f mat.VecDense
		f.MulVec(set.data.X, b)
		signal = math.Hypot(signal, mat.Norm(&f, 2))
		f.SubVec(y(set.data), &f)
		noise = math.Hypot(noise, mat.Norm(&f, 2))
	}
	return signal / noise
}

// target is that of a table with one.
func target(d *Data) mat.Vector { return mat.NewVecDense(len(d.Y), d.Y) }

func TestGenerateSignalToNoise(t *testing.T) {
	for _, c := range []struct {
		config   Config
		nonzeros int
		snr      float64
	}{
		{Config{Train: 40, Val: 10, Test: 30, Features: 50}, 15, 2},
		{Config{Train: 40, Val: 10, Features: 4}, 4, 2},
		{Config{Train: 4, Val: 1, Test: 3, Features: 50, Nonzeros: 3, SNR: 7}, 3, 7},
	} {
		s, b := must.Both(Generate(c.config, 11))(t)
		require.NoError(t, s.Validate())
		nonzeros := 0
		for _, v := range b {
			require.Contains(t, []float64{0, 1}, v)
			nonzeros += int(v)
		}
		require.Equal(t, c.nonzeros, nonzeros)
		require.InDelta(t, c.snr, signalToNoise(s, mat.NewVecDense(len(b), b), target), 1e-12)
	}
}

func TestPresets(t *testing.T) {
	sizes := map[string][4]int{
		"100-20-250-p250":   {100, 20, 250, 250},
		"100-100-250-p250":  {100, 100, 250, 250},
		"100-100-100-p2500": {100, 100, 100, 2500},
		"7-6-5-p4":          {7, 6, 5, 4},
		"7-6-0-p4":          {7, 6, 0, 4},
	}
	for _, name := range InSets.Presets() {
		require.Contains(t, sizes, name)
	}
	for name, want := range sizes {
		c := must.Of(InSets.Preset(name))(t)
		s := must.First(Generate(c, 1))(t)
		n, p := s.Train.Dims()
		v, _ := s.Val.Dims()
		e, _ := s.Test.Dims()
		require.Equal(t, want, [4]int{n, v, e, p})
	}
	for _, name := range []string{"", "small", "1-2-3-4", "1-2-p3", "a-2-3-p4", "1-2-3-p", "1--2-3-p4", "1-2-3-p-4"} {
		_, err := InSets.Preset(name)
		require.ErrorContains(t, err,
			"expected TRAIN-VAL-TEST-pFEATURES such as 100-20-250-p250, 100-100-250-p250, 100-100-100-p2500", name)
	}
	_, err := InSets.Preset("0-1-1-p5")
	require.ErrorContains(t, err, "cannot generate 0 training")
}

func TestGenerateErrors(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{}, "cannot generate 0 training, 0 validation and 0 test rows, expected at least 1, 1 and 0"},
		{Config{Train: 1, Val: 1, Test: -1}, "and -1 test rows"},
		{Config{Train: 1, Val: 1}, "cannot generate 0 features, expected at least 1"},
		{Config{Train: 1, Val: 1, Features: 5, Nonzeros: 6}, "cannot generate 6 nonzero coefficients, expected 1 to 5"},
		{Config{Train: 1, Val: 1, Features: 5, Nonzeros: -1}, "cannot generate -1 nonzero coefficients"},
		{Config{Train: 1, Val: 1, Features: 5, SNR: -2}, "signal-to-noise ratio -2, expected a positive number"},
		{Config{Train: 1 << 20, Val: 1, Features: 1 << 20}, "numbers at most"},
	} {
		_, _, err := Generate(c.config, 1)
		require.ErrorContains(t, err, c.want)
	}
}

// The same seed gives the same bytes, on every machine and with every release: the
// digest stands for them.
func TestGenerateSameBytes(t *testing.T) {
	digest := func(seed uint64) string {
		s, b := must.Both(Generate(Config{Train: 20, Val: 5, Test: 10, Features: 30}, seed))(t)
		h := sha256.New()
		for _, v := range [][]float64{s.Train.Dense().RawMatrix().Data, s.Train.Y, s.Val.Y, s.Test.Y, b} {
			require.NoError(t, binary.Write(h, binary.LittleEndian, v))
		}
		return hex.EncodeToString(h.Sum(nil)[:8])
	}
	require.Equal(t, "881c09801cea11b5", digest(1))
	require.NotEqual(t, digest(1), digest(2))
}

func TestGroupedPreset(t *testing.T) {
	for _, name := range InGroups.Presets() {
		must.Of(InGroups.Preset(name))(t)
	}
	c := must.Of(InGroups.Preset("40-30-20-p31-m4"))(t)
	require.Equal(t, 4, c.Groups)
	s, b := must.Both(Generate(c, 1))(t)
	for j, v := range b {
		want := 0.0
		if k := j % 10; j < 30 && k < 5 {
			want = float64(k + 1)
		}
		require.Equal(t, want, v, j)
	}
	require.InDelta(t, 2, signalToNoise(s, mat.NewVecDense(len(b), b), target), 2e-10)
	for name, want := range map[string]string{
		"": "unknown preset", "40-30-20-p31": "unknown preset", "40-30-20-p31-m": "unknown preset",
		"40-30-20-p31-m-1": "unknown preset",
		"40-30-20-p14-m2":  "expected at least 15", "0-30-20-p31-m1": "expected at least 1, 1 and 0",
	} {
		_, err := InGroups.Preset(name)
		require.ErrorContains(t, err, want, name)
	}
	c.Coefficients = c.Coefficients[:3]
	_, _, err := Generate(c, 1)
	require.ErrorContains(t, err, "3 coefficients for 31 features")
}

// Targets are the features times the coefficients, with noise of half the norm; all use the same features, and the
// first is that of package
func TestGenerateTargets(t *testing.T) {
	c := Config{Train: 300, Val: 200, Test: 100, Features: 30, Nonzeros: 4}
	s, b := must.Both(GenerateTargets(c, 3, 7))(t)
	plain, first := must.Both(Generate(c, 7))(t)
	require.Equal(t, first, mat.Col(nil, 0, b))
	require.Equal(t, plain.Val.Y, mat.Col(nil, 0, s.Val.Targets))
	require.True(t, mat.Equal(plain.Test.X, s.Test.X))
	for j, v := range first {
		for k := range 3 {
			require.Equal(t, v == 0, b.At(j, k) == 0)
		}
	}
	for k := 1; k < 3; k++ {
		other := func(d *Data) mat.Vector { return d.Targets.ColView(k) }
		require.InEpsilon(t, 2, signalToNoise(s, b.ColView(k), other), 1e-9)
	}
	again := must.First(GenerateTargets(c, 3, 7))(t)
	require.True(t, mat.Equal(s.Train.Targets, again.Train.Targets))
	_, _, err := GenerateTargets(c, 0, 7)
	require.ErrorContains(t, err, "0 targets")
}
