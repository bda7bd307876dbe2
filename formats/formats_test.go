package formats_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/textfile"
)

const (
	csvText    = "price,a,b\n1,2,0\n-1,0,4\n"
	libsvmText = "1 1:2\n-1 2:4\n"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	require.NoError(t, err)
	if strings.HasSuffix(name, ".gz") {
		w := gzip.NewWriter(f)
		fmt.Fprint(w, text)
		require.NoError(t, w.Close())
	} else {
		fmt.Fprint(f, text)
	}
	require.NoError(t, f.Close())
	return path
}

func TestReadTableTellsTheFormat(t *testing.T) {
	for _, c := range []struct{ file, text, feature string }{
		{"t.csv", csvText, "b"},
		{"t.CSV.GZ", csvText, "b"}, // plain text under this name
		{"t.csv.gz", csvText, "b"},
		{"t.txt", csvText, "b"},
		{"t.data", "\n" + csvText, "b"},
		{"t.svm", libsvmText, "x2"},
		{"t", libsvmText, "x2"},
		{"t.gz", libsvmText, "x2"},
		{"t.libsvm", "# a, comment\n\n" + libsvmText, "x2"},
		{"t.scale", "1 1:2 # here, too\n-1 2:4", "x2"},
		{"t.label", "1\n" + libsvmText, "x2"},
	} {
		t.Run(c.file, func(t *testing.T) {
			table, err := formats.ReadTable(write(t, c.file, c.text), formats.Options{})
			require.NoError(t, err)
			n, _ := table.X.Dims()
			require.Equal(t, c.feature, table.Features[1])
			require.Equal(t, 4.0, table.X.At(n-1, 1))
			require.Equal(t, -1.0, table.Y[n-1])
		})
	}
}

func TestReadTableErrors(t *testing.T) {
	for _, c := range []struct {
		file, text string
		options    formats.Options
		want       string
	}{
		{"t.txt", "hello world\n1 2\n", formats.Options{}, `: is neither CSV (column names separated by commas) nor LIBSVM (label index:value ...), it starts with "hello world"`},
		{"t.txt", "", formats.Options{}, ": is empty, expected lines"},
		{"t.csv", "", formats.Options{}, ": is empty, expected a line of column names"},
		{"t.csv", libsvmText, formats.Options{}, ":1: has the single column"},
		{"t.svm", libsvmText, formats.Options{Target: "a"}, `: is a LIBSVM file, whose columns have no names: the target "a" cannot be looked up`},
		{"t.svm", libsvmText, formats.Options{Columns: []string{"a"}}, ":2: pair 1: index 2 is larger than 1, the number of features"},
	} {
		path := write(t, c.file, c.text)
		_, err := formats.ReadTable(path, c.options)
		require.ErrorContains(t, err, path+c.want)
		var known *formats.Error
		require.ErrorAs(t, err, &known)
	}
	_, err := formats.ReadTable(t.TempDir(), formats.Options{})
	require.ErrorContains(t, err, "is a directory, expected a file")
}

// The features of a LIBSVM file take the names that a model knows them by.
func TestNamesForLIBSVM(t *testing.T) {
	path := write(t, "t.svm", libsvmText)
	for _, o := range []formats.Options{{Names: []string{"a", "b", "c"}, Target: "price"}, {Columns: []string{"a", "b", "c"}, Target: "price"}} {
		table, err := formats.ReadTable(path, o)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "c"}, table.Features)
		require.Equal(t, "price", table.Target)
		_, p := table.X.Dims()
		require.Equal(t, 3, p)
	}
}

func ExampleReadTable() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "houses.csv")
	if err := os.WriteFile(path, []byte("price,rooms,area\n250,4,90\n310,five,120\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	_, err = formats.ReadTable(path, formats.Options{Target: "price"})
	var wrong *formats.Error
	if errors.As(err, &wrong) {
		fmt.Printf("line %d, %s: %s\n", wrong.Line, wrong.Field, wrong.Reason)
	}
	// Output:
	// line 3, column 2 ("rooms"): "five" found, expected a number
}

// Files of LIBSVM are known by their first lines, or by the ends of their names.
func TestIsLIBSVM(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"f", "1 1:2 2:3\n", true}, {"f", "# made by hand\n\n-1\n+1 3:0.5 # the second\n", true}, {"f.txt", "1 1:2\n", true}, {"f.csv", "1 1:2\n", false}, {"f.tsv.gz", "1 1:2\n", false},
		{"f.svm", "x\n", true}, {"f.svm.gz", "", true}, {"f", "", false}, {"f", "a,b\n1,2\n", false}, {"f", "1 2 3\n", false}, {"f", "12 12:30 x\n", true},
		{"f", "2024-01-02 12:30 5\n", false}, {"f", "1;2:3\n", false}, {"f", "5\n7\n", false},
	} {
		s, err := textfile.NewSource(c.name, strings.NewReader(c.text))
		require.NoError(t, err)
		require.Equal(t, c.want, formats.IsLIBSVM(s), "%s: %q", c.name, c.text)
		rest, _ := s.Line()
		first, _, _ := strings.Cut(c.text, "\n")
		require.Equal(t, first, string(rest), "without moving on")
	}
}
