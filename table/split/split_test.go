package split

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		spec string
		n    int
		want []int
	}{
		{"50/50/rest", 442, []int{50, 50, 342}},
		{"50/50", 442, []int{50, 50}},
		{"rest/10/10", 25, []int{5, 10, 10}},
		{"0.5/0.25/rest", 8, []int{4, 2, 2}},
		{"50% / 25% / rest", 8, []int{4, 2, 2}},
		{"0.5/0.5", 7, []int{4, 3}},
		{"0.3/0.3/0.4", 11, []int{3, 4, 4}},
		{"0.5/rest", 7, []int{4, 3}},
		{"1/1/1", 3, []int{1, 1, 1}},
	} {
		got, err := Sizes(c.spec, c.n)
		require.NoError(t, err, c.spec)
		require.Equal(t, c.want, got, c.spec)
	}
}

func TestSizesErrors(t *testing.T) {
	for _, c := range []struct {
		spec string
		n    int
		want string
	}{
		{"", 10, `split "": expected two or three parts such as 50/50/rest or 0.5/0.25/rest`},
		{"50", 10, `split "50": expected two or three parts`},
		{"1/1/1/1", 10, `split "1/1/1/1": expected two or three parts`},
		{"rest/rest/1", 10, `has rest twice`},
		{"5/half", 10, `part "half" is neither a positive number of rows, nor a share below 1 or 100%, nor rest`},
		{"0/5", 10, `part "0" is neither`},
		{"-1/5", 10, `part "-1" is neither`},
		{"1.5/5", 10, `part "1.5" is neither`},
		{"100%/5", 10, `part "100%" is neither`},
		{"nan/5", 10, `part "nan" is neither`},
		{"6/5", 10, "asks for more than the 10 rows there are"},
		{"999999999999999999/999999999999999999/999999999999999999", 10, "asks for more than the 10 rows there are"},
		{"0.7/0.7", 10, "asks for more than the 10 rows there are"},
		{"5/5/rest", 10, "leaves the test set empty, with 10 rows in all"},
		{"0.5/3/rest", 7, `split "0.5/3/rest": leaves the test set empty, with 7 rows in all`},
		{"rest/1", 1, "leaves the training set empty, with 1 rows in all"},
		{"0.1/rest", 3, "leaves the training set empty, with 3 rows in all"},
		{"0.5/0.5", 1, "leaves the validation set empty, with 1 rows in all"},
	} {
		_, err := Sizes(c.spec, c.n)
		require.ErrorContains(t, err, c.want, c.spec)
	}
}
