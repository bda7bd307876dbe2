package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/table/split"
)

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
	require.Equal(t, []split.Fold{{Train: []int{0}, Val: []int{1}}, {Train: []int{1}, Val: []int{0}}}, cv.Folds)
	put(t, dir, "test.csv", "y,b\n1,2\n")
	_, err = ReadFoldsDir(dir)
	require.ErrorContains(t, err, `test.csv: does not fit the training set: it lacks column "a"`)
	_, err = ReadFoldsDir(filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "no such directory")
	require.NoError(t, os.Remove(filepath.Join(dir, "data.csv")))
	_, err = ReadFoldsDir(dir)
	require.ErrorContains(t, err, "lacks data.csv or data.csv.gz")
}
