package dataset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats"
)

func put(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestWriteDirReadDir(t *testing.T) {
	for _, c := range []Config{{Train: 5, Val: 4, Test: 3, Features: 7}, {Train: 5, Val: 4, Features: 7}} {
		want, _, err := Generate(c, 1)
		require.NoError(t, err)
		dir := filepath.Join(t.TempDir(), "new", "folder")
		require.NoError(t, WriteDir(want, dir))
		got, err := ReadDir(dir)
		require.NoError(t, err)
		require.Equal(t, want.Test == nil, got.Test == nil)
		for k, set := range got.sets() {
			if set.data == nil {
				continue
			}
			from := want.sets()[k].data
			require.True(t, mat.Equal(from.X, set.data.X))
			require.Equal(t, from.Y, set.data.Y)
			require.Equal(t, from.Features, set.data.Features)
			require.Equal(t, from.Target, set.data.Target)
		}
		other := filepath.Join(t.TempDir(), "again")
		require.NoError(t, WriteDir(want, other))
		for _, name := range []string{"train.csv.gz", "val.csv.gz"} {
			a, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			b, err := os.ReadFile(filepath.Join(other, name))
			require.NoError(t, err)
			require.Equal(t, a, b, "the same bytes")
		}
	}
}

func TestWriteDirErrors(t *testing.T) {
	s := &Split{Train: table(2, "a"), Val: table(2, "a")}
	dir := t.TempDir()
	put(t, dir, "precious.txt", "keep me")
	require.EqualError(t, WriteDir(s, dir), dir+": is not empty (precious.txt), expected a new or an empty directory")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	file := filepath.Join(dir, "precious.txt")
	require.ErrorContains(t, WriteDir(s, file), file+": is not a directory that can be written to")

	fresh := filepath.Join(dir, "fresh")
	bad := &Split{Train: table(2, "a b "), Val: table(2, "a b ")}
	require.ErrorContains(t, WriteDir(bad, fresh), "a blank at its start or end")
	require.NoDirExists(t, fresh)
	require.ErrorContains(t, WriteDir(&Split{Train: table(2, "a"), Val: table(2, "b")}, fresh), "does not fit")

	named := &Split{Train: table(2, "a", "y"), Val: table(2, "a", "y")}
	named.Train.Target, named.Val.Target = "z", "z"
	require.ErrorContains(t, WriteDir(named, fresh), `the feature "y" would be read back as the target instead of "z"`)
	require.NoDirExists(t, fresh)
}

func TestReadDirErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none")
	_, err := ReadDir(missing)
	require.EqualError(t, err, missing+": no such directory")

	_, err = ReadDir(put(t, dir, "file", ""))
	require.ErrorContains(t, err, "is a file, expected a directory with train.csv and val.csv")

	_, err = ReadDir(dir)
	require.EqualError(t, err, dir+": lacks train.csv or train.csv.gz (or .svm, .svm.gz)")

	train := put(t, dir, "train.csv", "y,a,b\n1,2,3\n")
	_, err = ReadDir(dir)
	require.EqualError(t, err, dir+": lacks val.csv or val.csv.gz (or .svm, .svm.gz)")

	val := put(t, dir, "val.csv", "y,a\n1,2\n")
	_, err = ReadDir(dir)
	require.EqualError(t, err, val+`: does not fit the training set: it lacks column "b"`)

	put(t, dir, "val.csv", "y,a,b\n1,2,3\n")
	s, err := ReadDir(dir)
	require.NoError(t, err)
	require.Nil(t, s.Test)

	test := put(t, dir, "test.csv", "y,a,b\n1,2,3\n1,,3\n")
	_, err = ReadDir(dir)
	require.ErrorContains(t, err, test+`:3: column 2 ("a"): is empty`)

	put(t, dir, "train.csv.gz", "y,a,b\n1,2,3\n")
	_, err = ReadDir(dir)
	require.EqualError(t, err, dir+": has both train.csv and train.csv.gz, expected one of them")
	require.FileExists(t, train)
}

func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	train := put(t, dir, "train.csv", "a,price,b\n1,2,3\n4,5,6\n")
	val := put(t, dir, "val.csv", "a,price,b\n1,2,3\n")
	s, err := ReadFiles(train, val, val, "price")
	require.NoError(t, err)
	require.NoError(t, s.Validate())
	require.Equal(t, []float64{2, 5}, s.Train.Y)
	require.Equal(t, []string{"a", "b"}, s.Test.Features)

	// Without a name the first column of the training file is the target, so it must be in the others.
	_, err = ReadFiles(train, put(t, dir, "other.csv", "price,b\n1,2\n"), "", "")
	require.ErrorContains(t, err, `other.csv:1: has no column "a" for the target; there are: "price", "b"`)
	_, err = ReadFiles(train, put(t, dir, "order.csv", "b,price,a\n1,2,3\n"), "", "price")
	require.ErrorContains(t, err, `its feature 1 is "b", expected "a" (the same order of columns)`)
	_, err = ReadFiles(train, filepath.Join(dir, "none.csv"), "", "price")
	require.ErrorContains(t, err, "none.csv: no such file")
	var known *formats.Error
	require.ErrorAs(t, err, &known)
}

// A LIBSVM file of training, validation or test rows may lack the last features: there are as many as the largest index of all says.
func TestReadFilesLIBSVM(t *testing.T) {
	dir := t.TempDir()
	train := put(t, dir, "train", "1 1:2 3:4\n")
	short := put(t, dir, "short", "1 1:2\n")
	s, err := ReadFiles(train, short, "", "")
	require.NoError(t, err)
	require.NoError(t, s.Validate())
	_, p := s.Val.Dims()
	require.Equal(t, 3, p)
	wide, other := put(t, dir, "wide", "1 4:2\n"), put(t, dir, "other", "1 1:5 6:3\n2 2:1 3:1 4:1 5:1 6:1\n")
	s, err = ReadFiles(train, wide, other, "")
	require.NoError(t, err)
	require.NoError(t, s.Validate())
	for d, want := range map[*Data][]float64{s.Train: {2, 0, 4, 0, 0, 0}, s.Val: {0, 0, 0, 2, 0, 0}, s.Test: {5, 0, 0, 0, 0, 3}} {
		require.Equal(t, []string{"x1", "x2", "x3", "x4", "x5", "x6"}, d.Features)
		row := make([]float64, 6)
		d.Fill(row, 0)
		require.Equal(t, want, row)
		require.Equal(t, s.Train.Sparse(), d.Sparse())
	}
	_, err = ReadLike(wide, s.Val.Rows([]int{0}))
	require.NoError(t, err)
	first, err := Read(train, "")
	require.NoError(t, err)
	_, err = ReadLike(wide, first)
	require.ErrorContains(t, err, "wide:1: pair 1: index 4 is larger than 3, the number of features (that of the training data)")
	named := put(t, dir, "named", "y,a,b,c\n1,2,3,4\n")
	_, err = ReadFiles(named, wide, "", "")
	require.ErrorContains(t, err, "wide:1: pair 1: index 4 is larger than 3, the number of features (that of the training data)")
}

// What a table is widened by takes no memory to speak of, however few entries it has: it becomes sparse.
func TestReadBesideKeepsMemory(t *testing.T) {
	dir := t.TempDir()
	table, err := Read(put(t, dir, "dense", "1 1:2 2:3\n2 1:1 2:1\n"), "")
	require.NoError(t, err)
	require.False(t, table.Sparse())
	all, err := ReadBeside(table, "", put(t, dir, "far", "1 1000000:1\n"))
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Nil(t, all[1])
	for _, d := range []*Data{all[0], all[2]} {
		_, p := d.Dims()
		require.Equal(t, 1_000_000, p)
		require.True(t, d.Sparse())
	}
	_, p := table.Dims()
	require.Equal(t, 2, p, "the table that was given stays")
	require.Equal(t, 3.0, all[0].X.At(0, 1))
}

func TestReadAndSplit(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir, "t.csv", "y,a\n1,1\n2,2\n3,3\n4,4\n")
	s, err := ReadAndSplit(path, "0.5/0.25/rest", 1, "")
	require.NoError(t, err)
	require.NoError(t, s.Validate())
	require.Len(t, s.Train.Y, 2)
	_, err = ReadAndSplit(path, "4/rest", 1, "")
	require.EqualError(t, err, path+`: split "4/rest": leaves the validation set empty, with 4 rows in all`)
	_, err = ReadAndSplit(path, "0.5/rest", 1, "b")
	require.ErrorContains(t, err, `has no column "b" for the target; there are: "y", "a"`)
}
