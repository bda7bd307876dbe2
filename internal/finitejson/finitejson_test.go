package finitejson

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

type Inner struct {
	A float64  `json:"a"`
	B *float64 `json:"b"`
}

type sample struct {
	Name string `json:"name"`
	Inner
	List   []float64          `json:"list"`
	None   []float64          `json:"none"`
	Table  map[string]float64 `json:"table"`
	Rows   [][]float64        `json:"rows,omitempty"`
	Left   string             `json:"left,omitempty"`
	Hidden float64            `json:"-"`
	hidden float64
	Plain  int
	Any    any       `json:"any"`
	Other  *Inner    `json:"other"`
	Time   time.Time `json:"time"`
	Bytes  []byte    `json:"bytes"`
	Flags  [2]bool   `json:"flags"`
}

// With finite numbers the text is that of encoding/json.
func TestAsEncodingJSON(t *testing.T) {
	b := 1e-7
	for _, v := range []any{
		nil, 3.5, "a<b>\"", []int{1}, map[int]string{3: "x"},
		sample{}, &sample{
			Name: "n", Inner: Inner{1e21, &b}, List: []float64{1, -0.5, 1e-9}, Table: map[string]float64{"b": 2, "a": 1},
			Rows: [][]float64{{1}, nil},
			Left: "x", hidden: 1, Any: map[string]any{"k": []float64{2}}, Other: &Inner{}, Time: time.Unix(5, 0).UTC(),
			Bytes: []byte("abc"), Flags: [2]bool{true, false},
		},
		[]*sample{nil, {Name: "m"}},
	} {
		want := must.Of(json.Marshal(v))(t)
		got := must.Of(Marshal(v))(t)
		require.Equal(t, string(want), string(got))
	}
}

func TestNumbersThatAreNone(t *testing.T) {
	nan := math.NaN()
	got := must.Of(Marshal(struct {
		Inner
		List  []float64
		Table map[string]float64
		Any   any
		F     float32
	}{Inner{math.Inf(1), &nan}, []float64{1, math.Inf(-1)}, map[string]float64{"x": nan, "y": 2}, nan,
		float32(math.Inf(1))}))(t)
	require.Equal(t, `{"a":null,"b":null,"List":[1,null],"Table":{"x":null,"y":2},"Any":null,"F":null}`, string(got))
}
