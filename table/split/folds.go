package split

import (
	"fmt"
	"slices"
)

// Fold says which rows of a table train a model and which validate it.
type Fold struct {
	Train, Val []int
	// Others says in the place of Train that all rows but Val train.
	Others bool
}

// Training are the rows of a table of n that train.
func (f Fold) Training(n int) []int {
	if !f.Others {
		return f.Train
	}
	val, list := make([]bool, n), make([]int, 0, n)
	for _, i := range f.Val {
		if 0 <= i && i < n {
			val[i] = true
		}
	}
	for i, validates := range val {
		if !validates {
			list = append(list, i)
		}
	}
	return list
}

// Trained is how many rows of a table of n train.
func (f Fold) Trained(n int) int {
	if f.Others {
		return n - len(f.Val)
	}
	return len(f.Train)
}

// Short says in the place of lists of training rows that all others train, where that is so, as those of all folds take
// several times the memory of a column.
func Short(folds []Fold, n int) {
	for k := range folds {
		short := Fold{Val: folds[k].Val, Others: true}
		if short.Trained(n) == len(folds[k].Train) && slices.Equal(short.Training(n), folds[k].Train) {
			folds[k] = short
		}
	}
}

// Folds splits n rows into t parts at random; each part validates the model of one fold, which the other parts train.
// The sizes of the parts differ by one at most. Where classes is not nil, it gives a number from 0 for the class of
// each row, and every part gets its share of each class, up to one row. The folds of several repeats come one after the
// other: the mean over all of them depends less on chance than that of one repeat, which on small tables decides what
// is chosen.
//
// Rows of a group are in one part, see [groupParts]. Where the groups leave chance no choice, as all are of different
// sizes, repeats are the same.
//
// Rows in the order of time are cut into t+1 blocks of about equal numbers of rows; rows of the same time are in the
// same block. Fold k, from 0, is validated by block k+1 and trained by all rows before it: nothing is trained on what
// comes later. There is one repeat of them without groups. A group with rows both before the block that a fold
// validates and in it either trains or validates there, as chance has it and about the same share of each side is kept,
// and its rows on the other side are left out. Errors are those of new groups at later times.
func (b By) Folds(n, t, repeats int, seed uint64, classes []int) (folds []Fold, err error) {
	var blocks []Fold
	if b.At != nil {
		if blocks, err = timeFolds(b.At, t); err != nil || b.Group == nil {
			return blocks, err
		}
	}
	switch {
	case repeats < 1 || repeats > mostRepeats:
		return nil, fmt.Errorf("split: %d repeats, expected 1 to %d", repeats, mostRepeats)
	case b.Group == nil && (t < 2 || t > n):
		return nil, fmt.Errorf("split: %d folds of %d rows, expected 2 to %d", t, n, n)
	}
	for k := range repeats {
		own := repeatSeed(seed, k)
		switch {
		case blocks != nil:
			for at, f := range blocks {
				sides := apart(b.Group, [][]int{f.Train, f.Val}, repeatSeed(seed, k*t+at))
				if len(sides[0]) == 0 || len(sides[1]) == 0 {
					return nil, fmt.Errorf(
						"split: fold %d has no group for one of its sides: expected more groups, or fewer folds", at)
				}
				folds = append(folds, Fold{Train: sides[0], Val: sides[1]})
			}
		case b.Group != nil:
			parts, err := groupParts(b.Group, t, own, classes)
			if err != nil {
				return nil, err
			}
			folds = append(folds, FoldsOf(parts)...)
		case classes != nil:
			folds = append(folds, FoldsOf(stratify(classes, t, own))...)
		default:
			folds = append(folds, FoldsOf(parts(n, t, own))...)
		}
	}
	return folds, nil
}

// parts splits the rows 0 to n-1; the first n mod t parts have a row more.
func parts(n, t int, seed uint64) [][]int {
	sizes := make([]int, t)
	for k := range sizes {
		sizes[k] = (n + t - 1 - k) / t
	}
	return divide(n, sizes, seed)
}

// repeatSeed is the seed of repeat k, from 0.
func repeatSeed(seed uint64, k int) uint64 { return seed + uint64(k)*repeatStride }

const (
	// repeatStride keeps the seeds of the repeats apart from those of neighbouring seeds.
	repeatStride = 0x9e3779b97f4a7c15
	mostRepeats  = 1000
)

// stratify takes one class after the other, and gives its rows to the t parts in turn. It goes on where the class
// before has ended, so that the parts are of equal size up to one row.
func stratify(classes []int, t int, seed uint64) [][]int {
	parts := make([][]int, t)
	next := 0
	order := permutation(len(classes), seed)
	for class := range slices.Max(classes) + 1 {
		for _, i := range order {
			if classes[i] == class {
				parts[next%t] = append(parts[next%t], i)
				next++
			}
		}
	}
	for k := range parts {
		slices.Sort(parts[k])
	}
	return parts
}

// CheckFolds checks that there are at least two folds of a table of n rows, that each has rows to train and rows to
// validate, and that these are rows of the table and no row is in a fold twice.
func CheckFolds(folds []Fold, n int) error {
	if len(folds) < 2 {
		return fmt.Errorf("%d folds, expected at least 2", len(folds))
	}
	for k, f := range folds {
		in := make([]bool, n)
		for _, set := range []struct {
			name string
			rows []int
		}{{"training", f.Training(n)}, {"validation", f.Val}} {
			if len(set.rows) == 0 {
				return fmt.Errorf("fold %d has no %s rows", k, set.name)
			}
			for _, i := range set.rows {
				switch {
				case i < 0 || i >= n:
					return fmt.Errorf("fold %d names row %d, expected 0 to %d", k, i, n-1)
				case in[i]:
					return fmt.Errorf("fold %d names row %d twice", k, i)
				}
				in[i] = true
			}
		}
	}
	return nil
}

// FoldsOf makes folds of parts of the rows: each part validates the model of one fold, which all other parts train.
func FoldsOf(parts [][]int) []Fold {
	last, rows := -1, 0
	for _, val := range parts {
		rows += len(val)
		for _, i := range val {
			last = max(last, i)
		}
	}
	of := make([]int, last+1) // the part of each row, from 1
	for k, val := range parts {
		for _, i := range val {
			of[i] = k + 1
		}
	}
	folds := make([]Fold, len(parts))
	for k, val := range parts {
		train := make([]int, 0, rows-len(val))
		for i, at := range of {
			if at > 0 && at != k+1 {
				train = append(train, i)
			}
		}
		folds[k] = Fold{Train: train, Val: val}
	}
	return folds
}

// PartsOf collects the rows of equal numbers: part k has those whose number is the k-th in size.
func PartsOf(number []int) [][]int {
	rows := map[int][]int{}
	var keys []int
	for i, k := range number {
		if rows[k] == nil {
			keys = append(keys, k)
		}
		rows[k] = append(rows[k], i)
	}
	slices.Sort(keys)
	parts := make([][]int, len(keys))
	for k, key := range keys {
		parts[k] = rows[key]
	}
	return parts
}
