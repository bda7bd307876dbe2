package table

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/readertest"
)

// textInput is a text as a file's bytes.
func textInput(name string, text []byte) File {
	return File{name, io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text)))}
}

func readText(name string, text []byte, o Options) (*Table, error) {
	return textInput(name, text).Read(o)
}

func decodeParts(name string, text []byte, o Options, begin func(), hand func(*Table) error) ([]Finding, error) {
	return textInput(name, text).ReadParts(o, begin, hand)
}

// cells are those of a table as texts, NA where they are missing.
func cells(t *Table) (rows [][]string) {
	for i := range t.rows {
		var row []string
		for j := range t.columns {
			c := &t.columns[j]
			text, there := c.level(t.cell(i, j))
			if !there {
				text = "NA"
			} else if c.Kind == Number || c.Kind == Date {
				text = fmt.Sprint(c.value(t.cell(i, j)))
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

func decode(t testing.TB, text string, o Options) *Table {
	t.Helper()
	table, err := readText("f", []byte(text), o)
	require.NoError(t, err, text)
	return table
}

// One table in the forms in which programs write it.
func TestDialects(t *testing.T) {
	names := []string{"age", "city", "y"}
	want := [][]string{{"1.5", "Zürich", "3"}, {"NA", "a, b", "-4.25"}, {"2", "NA", "1000.5"}}
	latin := strings.NewReplacer("ü", "\xfc")
	wide := func(order int, mark bool, text string) string {
		var b []byte
		if mark {
			text = "\ufeff" + text
		}
		for _, c := range utf16.Encode([]rune(text)) {
			pair := []byte{byte(c >> 8), byte(c)}
			b = append(b, pair[order], pair[1-order])
		}
		return string(b)
	}
	comma := "age,city,y\n1.5,Zürich,3\nNA,\"a, b\",-4.25\n2,,1000.5\n"
	for name, c := range map[string]struct {
		text string
		o    Options
		says string
	}{
		"comma":           {comma, Options{}, ""},
		"R":               {"\"age\",\"city\",\"y\"\n1.5,\"Zürich\",3\nNA,\"a, b\",-4.25\n2,NA,1000.5\n", Options{}, ""},
		"CRLF":            {strings.ReplaceAll(comma, "\n", "\r\n"), Options{}, ""},
		"CR":              {strings.ReplaceAll(comma, "\n", "\r"), Options{}, ""},
		"byte order mark": {"\ufeff" + comma, Options{}, ""},
		"no end":          {strings.TrimSuffix(comma, "\n"), Options{}, ""},
		"blank lines":     {"\n" + strings.Replace(comma, "\n", "\n \n\n", 1) + "\n\n", Options{}, ""},
		"comments": {"# made by hand\n" + strings.Replace(comma, "2,,", "# no row\n2,,", 1), Options{},
			"1 line after the names begin with #"},
		"names in comment": {"# made by hand\n#" + comma, Options{}, ""},
		"semicolon": {"age;city;y\n1,5;Zürich;3\nNA;\"a, b\";-4,25\n2;;1000,5\n", Options{},
			"semicolons, decimal commas"},
		"semicolon, point": {"age;city;y\n1.5;Zürich;3\nNA;a, b;-4.25\n2;;1000.5\n", Options{}, "semicolons"},
		"decimal comma": {"age,city,y\n\"1,5\",Zürich,3\nNA,\"a, b\",\"-4,25\"\n2,,\"1000,5\"\n", Options{},
			"decimal commas"},
		"tab":               {"age\tcity\ty\n1.5\tZürich\t3\n\ta, b\t-4.25\n2\t\t1000.5\n", Options{}, "tabs"},
		"tab, CRLF":         {"age\tcity\ty\r\n1.5\tZürich\t3\r\n\ta, b\t-4.25\r\n2\t\t1000.5\r\n", Options{}, "tabs"},
		"blanks":            {"age city  y\n1.5 Zürich    3\n NA \"a, b\" -4.25 \n2 NA\t1000.5\n", Options{}, "blanks"},
		"bar":               {"age|city|y\n1.5|Zürich|3\n|a, b|-4.25\n2||1000.5\n", Options{}, "|"},
		"sep":               {"sep=;\nage;city;y\n1,5;Zürich;3\n;a, b;-4,25\n2;;1000,5\n", Options{}, "semicolons"},
		"SEP":               {"\"SEP=,\"\r\n" + comma, Options{}, ""},
		"latin1":            {latin.Replace(comma), Options{}, "Latin-1"},
		"latin1, asked":     {latin.Replace(comma), Options{Encoding: Latin1}, "Latin-1"},
		"UTF-16LE":          {wide(1, true, comma), Options{}, "UTF-16"},
		"UTF-16BE":          {wide(0, true, comma), Options{}, "UTF-16"},
		"UTF-16 unmarked":   {wide(1, false, comma), Options{}, "UTF-16"},
		"line end in quote": {strings.Replace(comma, "a, b", "a,\nb", 1), Options{}, "line ends"},
		"all asked": {"age^city^y\n1,5^Zürich^3\n% no row\n^a, b^-4,25\n2^^1000,5\n",
			Options{Separator: "^", Decimal: ",", Comment: "%", Header: "yes"}, ""},
		"other missing": {"age,city,y\n1.5,Zürich,3\n?,\"a, b\",-4.25\n2,NULL,1000.5\n", Options{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			table := decode(t, c.text, c.o)
			require.Equal(t, names, table.Names())
			require.Equal(t, want, cells(table))
			said := ""
			for _, f := range table.Findings() {
				said += f.Text + "\n"
			}
			require.Contains(t, said, c.says)
			if c.says == "" && name != "all asked" {
				require.Empty(t, said)
			}
		})
	}
}

// Columns that blanks part, and one that a tab does, as in tables of the UCI repository.
func TestBlanksAndTab(t *testing.T) {
	table := decode(t, "18.0   8   130.0\t\"chevelle malibu\"\n15.0   8   ?\t\"buick skylark\"\n24    4  95.0\t\"ford\"\n",
		Options{})
	require.Equal(t, []string{"x1", "x2", "x3", "x4"}, table.Names())
	require.Equal(t, [][]string{{"18", "8", "130", "chevelle malibu"}, {"15", "8", "NA", "buick skylark"},
		{"24", "4", "95", "ford"}}, cells(table))
	table = decode(t, "a b\tc\n1 x\t2\n2 y\t3\n", Options{})
	require.Equal(t, []string{"a b", "c"}, table.Names())
	table = decode(t, "dose;effect\n0,36;yes\n0,71;no\n", Options{}) // and none parts the line of names by commas
	require.Equal(t, [][]string{{"0.36", "yes"}, {"0.71", "no"}}, cells(table))
}

// Separators at the ends of lines, and # in first cells.
func TestEndsAndHashes(t *testing.T) {
	want := [][]string{{"1", "2"}, {"3", "4"}, {"5", "NA"}}
	for _, text := range []string{"a,b\n1,2,\n3,4,\n5,,\n", "a,b,\n1,2,\n3,4,\n5,,\n", "a,b,\n1,2\n3,4\n5,\n"} {
		table := decode(t, text, Options{})
		require.Equal(t, []string{"a", "b"}, table.Names()[:2], text)
		for i, row := range cells(table) {
			require.Equal(t, want[i], row[:2], text)
		}
	}
	table := decode(t, "colour,y\n#ff0000,1\n#00ff00,2\n#0000ff,3\n", Options{})
	require.Equal(t, [][]string{{"#ff0000", "1"}, {"#00ff00", "2"}, {"#0000ff", "3"}}, cells(table))
	table = decode(t, "x,y\n1,1\n#2,2\n3,3\n", Options{})
	require.Equal(t, [][]string{{"1", "1"}, {"3", "3"}}, cells(table))
}

// The same table whatever the number of threads.
func TestThreads(t *testing.T) {
	text := benchmarkText(2<<20, 20, 3)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first *Table
	for _, n := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(n)
		table := decode(t, string(text), Options{})
		if first == nil {
			first = table
		}
		require.Equal(t, first.Findings(), table.Findings())
		require.Equal(t, len(first.blocks), len(table.blocks))
		for j := range table.columns {
			require.Equal(t, first.columns[j], table.columns[j])
		}
		for i := 0; i < table.rows; i += 37 {
			for j := range table.columns {
				require.Equal(t, math.Float64bits(first.cell(i, j)), math.Float64bits(table.cell(i, j)))
			}
		}
	}
}

func TestKinds(t *testing.T) {
	table := decode(t, "id,n,int,share,money,many,when,us,eu,stamp,word,flag,empty,none,mix\n"+
		"1,1.5,7,12%,\"$1,200\",\"1,234,567\",2024-01-02,1/31/2024,31.01.2024,2024-01-02T06:00:00Z,red,TRUE,,5,1\n"+
		"2,NA,8,3.5 %,-$3,12,1970-01-01,2/1/2024,1.2.2024,1970-01-01T00:00:00Z,blue,FALSE,NA,5,2\n"+
		"3,2,9,0%,(7),(1),1969-12-31,12/1/2024,1.12.2024,1970-01-02T12:00:00Z,red,TRUE,?,5,x\n", Options{})
	kinds := map[string]string{}
	for _, c := range table.Columns() {
		kinds[c.Name] = c.Kind
	}
	require.Equal(t, map[string]string{
		"id": Number, "n": Number, "int": Number, "share": Number, "money": Number, "many": Number, "when": Date, "us": Date,
		"eu": Date, "stamp": Date,
		"word": Category, "flag": Category, "empty": Empty, "none": Number, "mix": Mixed,
	}, kinds)
	// Days since 1970 by date -u -d DAY +%s, divided by 86400.
	require.Equal(t, [][]string{
		{"1", "1.5", "7", "12", "1200", "1.234567e+06", "19724", "19753", "19753", "19724.25", "red", "True", "NA", "5", "1"},
		{"2", "NA", "8", "3.5", "-3", "12", "0", "19754", "19754", "0", "blue", "False", "NA", "5", "2"},
		{"3", "2", "9", "0", "-7", "-1", "-1", "20058", "20058", "1.5", "red", "True", "NA", "5", "x"},
	}, cells(table))
	is := func(name string) *Column { return &table.columns[table.Index(name)] }
	require.True(t, is("id").Counting)
	require.True(t, is("int").Distinct)
	require.False(t, is("int").Counting)
	require.True(t, is("none").Constant)
	require.False(t, is("word").Constant)
	require.Equal(t, []int{3}, is("n").missingLines)
}

func TestHeader(t *testing.T) {
	for text, want := range map[string]struct {
		names string
		rows  int
	}{
		"5.1,3.5,a\n4.1,3,b\n":                {"x1 x2 x3", 2}, // iris.data
		"1,2,3\n4,5,6\n":                      {"1 2 3", 1},    // numbered columns
		"1,2.5,3\n4,5,6\n":                    {"x1 x2 x3", 2},
		"a,b\nc,d\n":                          {"a b", 1},
		"country,1990,1991\nUS,1,2\n":         {"x1 x2 x3", 2}, // which Options.Header yes sets right
		",1990,1991\nUS,1,2\n":                {"Unnamed: 0 1990 1991", 1},
		"year,1990,w\n5,1,2\n":                {"year 1990 w", 1},
		"\"a\" \"b\"\n\"1\" 3 4\n\"2\" 5 6\n": {"Unnamed: 0 a b", 2}, // write.table of R
		"a,b\n1,2\n":                          {"a b", 1},
	} {
		table := decode(t, text, Options{})
		require.Equal(t, want.names, strings.Join(table.Names(), " "), text)
		require.Equal(t, want.rows, table.Rows(), text)
	}
	table := decode(t, "country,1990,1991\nUS,1,2\n", Options{Header: "yes"})
	require.Equal(t, []string{"country", "1990", "1991"}, table.Names())
	// years, as over the columns of a wide table
	table = decode(t, "country,code,1990,1991,1992\nAruba,ABW,4.8,4.7,4.5\nAngola,AGO,7.3,7.4,7.4\n", Options{})
	require.Equal(t, []string{"country", "code", "1990", "1991", "1992"}, table.Names())
	table = decode(t, "Aruba,ABW,1990,2.5,1992\nAngola,AGO,1991,7.4,1993\n", Options{})
	require.Equal(t, []string{"x1", "x2", "x3", "x4", "x5"}, table.Names())
	table = decode(t, "a,b\nc,d\n", Options{Header: "no"})
	require.Equal(t, 2, table.Rows())
	require.Equal(t, 1, table.Index("2"))
}

// The names that pandas 3.1 gives to columns of the same name (read_csv).
func TestNamesTwice(t *testing.T) {
	for names, want := range map[string]string{
		"x,x": "x,x.1", "x,y,x,y,x": "x,y,x.1,y.1,x.2", "x,x,x.1": "x,x.2,x.1", "x.1,x,x": "x.1,x,x.2",
		"x,x.1,x,x.1": "x,x.1,x.2,x.1.1",
	} {
		table := decode(t, names+"\n"+strings.Repeat("1,", strings.Count(names, ","))+"2\n", Options{})
		require.Equal(t, want, strings.Join(table.Names(), ","))
		require.Equal(t, "names", table.Findings()[0].Kind)
	}
	table := decode(t, "x,y,x\n1,2,3\n", Options{})
	require.Equal(t, `column "x.1": a column before has the name without the number, which was added`,
		table.Findings()[0].Text)
	require.Empty(t, decode(t, "x,y,x.1\n1,2,3\n", Options{}).Findings())
}

// A row whose first cell is an error of a spreadsheet is a row, and the error a missing value; comments are passed over
// as before.
func TestErrorsOfSpreadsheets(t *testing.T) {
	for _, sep := range []string{",", ";", "\t", "|", " "} {
		text := strings.ReplaceAll("a,b\n#N/A,1\n# a comment\n#DIV/0!,2\n#NAME? is no comment\n3,#VALUE!\n4,#REF!\n#5,6\n",
			",", sep)
		if sep != " " {
			text = strings.ReplaceAll(text, "#NAME? is no comment\n", "#NUM! comes from the sheet\n")
		} else {
			text = strings.ReplaceAll(text, "#NAME? is no comment\n", "")
		}
		table := decode(t, text, Options{})
		require.Equal(t, [][]string{{"NA", "1"}, {"NA", "2"}, {"3", "NA"}, {"4", "NA"}}, cells(table), text)
	}
	table := decode(t, "a\n#N/A\n1\n#comment\n2\n", Options{})
	require.Equal(t, [][]string{{"NA"}, {"1"}, {"2"}}, cells(table))
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "f: is empty, expected a line of column names and lines of data",
		"a,b\n":                     "f: has column names and no rows",
		"a,b\n1,2\n3\n4,5,6\n7,8\n": `f:3: has 1 cell, expected 2, one for each column name; 1 other line differs: line 4`,
		"a,b\n1,\"x\n2,3\n":         "f:2: the quote is not closed before the end of the file",
		"a,b\n1,2\n3\x00,4\n":       "f: is binary, expected text",
		"PK\x03\x04....":            "f: the zip data are damaged",
		"PAR1....":                  "f: is a Parquet file",
		"\xd0\xcf\x11\xe0\xa1":      "f: is an Excel workbook",
	} {
		_, err := readText("f", []byte(text), Options{})
		require.ErrorContains(t, err, want, text)
	}
	_, err := readText("f", []byte("a,b\n\xfc,2\n"), Options{Encoding: UTF8})
	require.ErrorContains(t, err, "not UTF-8")
	_, err = Read(filepath.Join(t.TempDir(), "none"), Options{})
	require.ErrorContains(t, err, "no such file")
	for want, o := range map[string]Options{
		"the separator is \"ab\"":  {Separator: "ab"},
		"the decimal point is":     {Decimal: ";"},
		"the comment character is": {Comment: "5"},
		"the encoding is \"x\"":    {Encoding: "x"},
		"header is \"maybe\"":      {Header: "maybe"},
		"are both a comma":         {Separator: ",", Decimal: ","},
	} {
		require.ErrorContains(t, o.Validate(), want)
	}
}

func TestCells(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1e70, 5e-324, math.MaxFloat64} {
		_, text := textCode(v)
		require.False(t, text || isMissing(v))
		require.True(t, v == v)
	}
	for _, code := range []uint32{0, 1, mostTexts, overflowCode} {
		got, text := textCode(textCell(code))
		require.True(t, text && got == code && textCell(code) != textCell(code) && !isMissing(textCell(code)))
	}
	_, text := textCode(missingCell)
	require.False(t, text || missingCell == missingCell)
	_, text = textCode(math.NaN())
	require.False(t, text)
}

// benchmarkText has numbers of 6 to 17 digits, and texts in every so many columns.
func benchmarkText(size, p, texts int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	text := []byte("y")
	for j := range p {
		text = strconv.AppendInt(append(text, ",x"...), int64(j)+1, 10)
	}
	for len(text) < size {
		text = append(text, '\n')
		for j := range p + 1 {
			if j > 0 {
				text = append(text, ',')
			}
			switch {
			case texts > 0 && j%texts == 1 && r.IntN(50) == 0:
				text = append(text, "NA"...)
			case texts > 0 && j%texts == 1:
				text = append(append(text, "level "...), byte('a'+r.IntN(20)))
			default:
				text = strconv.AppendFloat(text, r.NormFloat64(), 'g', 6+r.IntN(12), 64)
			}
		}
	}
	return append(text, '\n')
}

// BenchmarkRead reads files of 32 MB and finds their types. With -cpu 1 it is the rate of one core.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct{ p, texts int }{{100, 0}, {50, 5}, {50, 2}} {
		b.Run(fmt.Sprintf("p=%d/texts=%d", c.p, c.texts), func(b *testing.B) {
			readertest.Benchmark(b, "f.csv", benchmarkText(32<<20, c.p, c.texts), func(path string) error {
				_, err := Read(path, Options{})
				return err
			})
		})
	}
}
