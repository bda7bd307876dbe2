package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// ReadAndSplit reads a file and splits its rows at random; see [Read] and
// [SplitRows].
func ReadAndSplit(path, spec string, seed uint64, target string) (*Split, error) {
	d, err := Read(path, target)
	if err != nil {
		return nil, err
	}
	s, err := SplitRows(d, spec, seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// SplitRows deals out the rows of d at random, without overlap. spec gives the
// sizes of the training, the validation and, if there is a third one, the test
// set, separated by slashes: a number of rows (50), a share of all rows (0.5 or
// 50%), or rest, once. Rows that "50/50" leaves over are not used. An empty
// set is an error.
func SplitRows(d *Data, spec string, seed uint64) (*Split, error) {
	n, _ := d.Dims()
	parts, err := SplitNumbers(n, spec, seed)
	if err != nil {
		return nil, err
	}
	return d.Divide(parts), nil
}

// Divide are the rows of two or three sets: for training, validation and, if there is a third one, for the test.
func (d *Data) Divide(parts [][]int) *Split {
	var s Split
	for k, set := range []**Data{&s.Train, &s.Val, &s.Test}[:len(parts)] {
		*set = d.Rows(parts[k])
	}
	return &s
}

// SplitNumbers returns the rows of the two or three sets into which [SplitRows] divides n rows, each in rising order.
func SplitNumbers(n int, spec string, seed uint64) ([][]int, error) {
	sizes, err := Sizes(spec, n)
	if err != nil {
		return nil, err
	}
	order := permutation(n, seed)
	parts := make([][]int, len(sizes))
	for k, size := range sizes {
		parts[k], order = order[:size:size], order[size:]
		slices.Sort(parts[k])
	}
	return parts, nil
}

// Sizes returns the two or three numbers of rows that spec means for n rows; see
// [SplitRows].
func Sizes(spec string, n int) ([]int, error) {
	fail := func(format string, args ...any) ([]int, error) {
		return nil, fmt.Errorf("split %q: %s", spec, fmt.Sprintf(format, args...))
	}
	parts := strings.Split(spec, "/")
	if len(parts) != 2 && len(parts) != 3 {
		return fail("expected two or three parts such as 50/50/rest or 0.5/0.25/rest")
	}
	sizes := make([]int, len(parts))
	rest := -1
	used, sum := 0, 0.0 // the rows dealt out so far, and their number before rounding
	for k, part := range parts {
		part = strings.TrimSpace(part)
		if part == "rest" {
			if rest >= 0 {
				return fail("has rest twice")
			}
			rest = k
			continue
		}
		rows, ok := partSize(part, n)
		if !ok {
			return fail("part %q is neither a positive number of rows, nor a share below 1 or 100%%, nor rest", part)
		}
		// Rounding the sums instead of the parts leaves no row over when the shares add up to 1.
		sum += rows
		sizes[k] = int(math.Round(min(sum, float64(n)+1))) - used
		used += sizes[k]
	}
	if used > n {
		return fail("asks for more than the %d rows there are", n)
	}
	if rest >= 0 {
		sizes[rest] = n - used
	}
	for k, size := range sizes {
		if size < 1 {
			return fail("leaves the %s set empty, with %d rows in all", [...]string{"training", "validation", "test"}[k], n)
		}
	}
	return sizes, nil
}

// partSize returns the rows that one part of a spec means, not rounded.
func partSize(part string, n int) (rows float64, ok bool) {
	if count, err := strconv.ParseInt(part, 10, 64); err == nil {
		return float64(count), count > 0
	}
	text, percent := strings.CutSuffix(part, "%")
	share, err := strconv.ParseFloat(text, 64)
	if percent {
		share /= 100
	}
	return share * float64(n), err == nil && share > 0 && share < 1
}

// Folds deals the rows 0 to n-1 out to t folds at random. The sizes of the folds
// differ by one at most, and each fold is sorted.
func Folds(n, t int, seed uint64) ([][]int, error) {
	if t < 2 || t > n {
		return nil, fmt.Errorf("dataset: %d folds of %d rows, expected 2 to %d", t, n, n)
	}
	order := permutation(n, seed)
	folds := make([][]int, t)
	for k := range folds {
		// The first n mod t folds have a row more.
		size := n / t
		if k < n%t {
			size++
		}
		folds[k], order = order[:size:size], order[size:]
		slices.Sort(folds[k])
	}
	return folds, nil
}

// Streams keep apart what is drawn from the same seed for different ends.
const (
	streamOrder = iota + 1
	streamSupport
	streamFeatures
	streamNoise
)

func generator(seed uint64, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream))
}

func permutation(n int, seed uint64) []int { return generator(seed, streamOrder).Perm(n) }
