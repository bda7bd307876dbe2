package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats"
)

// Each row validates once and trains in the other folds.
func TestCrossValidate(t *testing.T) {
	d := table(23, "a", "b")
	for _, classes := range [][]int{nil, slices.Repeat([]int{0, 1, 1, 0, 1, 2, 0, 1, 1, 1, 0, 2, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1}, 1)} {
		cv, err := CrossValidate(d, 4, 3, classes)
		require.NoError(t, err)
		require.NoError(t, cv.Validate())
		validated := make([]int, 23)
		for _, f := range cv.Folds {
			require.Contains(t, []int{5, 6}, len(f.Val))
			require.Len(t, f.Train, 23-len(f.Val))
			for _, i := range f.Val {
				validated[i]++
				require.NotContains(t, f.Train, i)
			}
			for class := range 3 {
				if classes == nil {
					continue
				}
				of := func(rows []int) (n int) {
					for _, i := range rows {
						if classes[i] == class {
							n++
						}
					}
					return n
				}
				all := of(slices.Concat(f.Train, f.Val))
				require.Contains(t, []int{all / 4, (all + 3) / 4}, of(f.Val), "class %d", class)
			}
		}
		require.Equal(t, slices.Repeat([]int{1}, 23), validated)
		again, err := CrossValidate(d, 4, 3, classes)
		require.NoError(t, err)
		require.Equal(t, cv, again)
	}
	_, err := CrossValidate(d, 24, 1, nil)
	require.ErrorContains(t, err, "24 folds of 23 rows")
}

func TestFoldsDir(t *testing.T) {
	for _, test := range []int{0, 7} {
		c, folds, err := LabelledPreset(fmt.Sprintf("31-%d-p4-t3", test))
		require.NoError(t, err)
		want, b, err := GenerateLabelled(c, folds, 5)
		require.NoError(t, err)
		require.Len(t, b, 4)
		dir := filepath.Join(t.TempDir(), "new")
		require.NoError(t, WriteFoldsDir(want, dir))
		got, err := ReadFoldsDir(dir)
		require.NoError(t, err)
		require.Equal(t, want.Folds, got.Folds)
		require.True(t, mat.Equal(want.Data.X, got.Data.X))
		require.Equal(t, want.Data.Y, got.Data.Y)
		require.Subset(t, []float64{-1, 1}, got.Data.Y)
		require.Equal(t, test == 0, got.Test == nil)
		require.ErrorContains(t, WriteFoldsDir(want, dir), "is not empty")
	}
	for _, name := range []string{"31-7-p4", "31-7-4-3", "31-7-p4-tx", "-1-7-p4-t3"} {
		_, _, err := LabelledPreset(name)
		require.ErrorContains(t, err, "expected ROWS-TEST-pFEATURES-tFOLDS")
	}
	_, _, err := LabelledPreset("3-1-p4-t5")
	require.ErrorContains(t, err, "5 folds of 3 rows")
}

func TestReadFoldsDirErrors(t *testing.T) {
	const data = "y,a\n1,2\n2,3\n3,4\n4,5\n"
	const good = "fold,row,role\n0,0,train\n0,1,val\n1,1,train\n1,0,val\n"
	for _, c := range []struct{ name, data, folds, want string }{
		{"no folds", data, "", "lacks folds.csv"},
		{"empty", data, "\n", "folds.csv: is empty"},
		{"header", data, "fold,line,role\n0,0,train\n", `folds.csv:1: column 2: is "line", expected the name "row"`},
		{"fields", data, "fold,row,role\n0,0\n", "folds.csv:2: has 2 fields, expected 3"},
		{"row", data, "fold,row,role\n0,4,val\n", `folds.csv:2: column 2 ("row"): "4" found, expected a number from 0 to 3`},
		{"fold", data, "fold,row,role\n-1,0,val\n", `folds.csv:2: column 1 ("fold"): "-1" found`},
		{"role", data, "fold,row,role\n0,0,test\n", `folds.csv:2: column 3 ("role"): "test" found, expected train or val`},
		{"one fold", data, "fold,row,role\n0,0,train\n0,1,val\n", "folds.csv: 1 folds, expected at least 2"},
		{"skipped", data, good + "3,0,train\n", "folds.csv: fold 2 has no training rows"},
		{"twice", data, good + "1,0,train\n", "folds.csv: fold 1 names row 0 twice"},
		{"data", "y,a\n1,x\n", good, `data.csv:2: column 2 ("a")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "data.csv", c.data)
			if c.folds != "" {
				put(t, dir, "folds.csv", c.folds)
			}
			_, err := ReadFoldsDir(dir)
			require.ErrorContains(t, err, c.want)
			var known *formats.Error
			require.ErrorAs(t, err, &known)
		})
	}
	dir := t.TempDir()
	put(t, dir, "data.csv", data)
	put(t, dir, "folds.csv", good)
	cv, err := ReadFoldsDir(dir)
	require.NoError(t, err)
	require.Equal(t, []Fold{{Train: []int{0}, Val: []int{1}}, {Train: []int{1}, Val: []int{0}}}, cv.Folds)
	put(t, dir, "test.csv", "y,b\n1,2\n")
	_, err = ReadFoldsDir(dir)
	require.ErrorContains(t, err, `test.csv: does not fit the training set: it lacks column "a"`)
	_, err = ReadFoldsDir(filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "no such directory")
	require.NoError(t, os.Remove(filepath.Join(dir, "data.csv")))
	_, err = ReadFoldsDir(dir)
	require.ErrorContains(t, err, "lacks data.csv or data.csv.gz")
}

// Each deal has every row in one part, deals differ, and the first is that of CrossValidate.
func TestCrossValidateRepeated(t *testing.T) {
	s, _, err := Generate(Config{Train: 23, Val: 2, Features: 2, Nonzeros: 1}, 1)
	require.NoError(t, err)
	classes := make([]int, 23)
	for i := range classes {
		classes[i] = i % 2
	}
	for _, class := range [][]int{nil, classes} {
		cv, err := CrossValidateRepeated(s.Train, 4, 3, 7, class)
		require.NoError(t, err)
		require.NoError(t, cv.Validate())
		require.Len(t, cv.Folds, 12)
		once, err := CrossValidate(s.Train, 4, 7, class)
		require.NoError(t, err)
		require.Equal(t, once.Folds, cv.Folds[:4])
		require.NotEqual(t, cv.Folds[:4], cv.Folds[4:8])
		require.NotEqual(t, cv.Folds[4:8], cv.Folds[8:])
		for deal := range 3 {
			var seen []int
			for _, f := range cv.Folds[4*deal : 4*deal+4] {
				seen = append(seen, f.Val...)
			}
			slices.Sort(seen)
			require.Equal(t, span(23), seen)
		}
	}
	_, err = CrossValidateRepeated(s.Train, 4, 0, 7, nil)
	require.ErrorContains(t, err, "0 repeats")
	require.Equal(t, []int{3, 2, 1, 1}, []int{Repeats(100, 10), Repeats(400, 10), Repeats(2000, 10), Repeats(200, 1000)})
}

func span(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
