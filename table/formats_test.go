package table_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/arrow"
	"github.com/conetune/conetune/table/internal/parquet"
	"github.com/conetune/conetune/table/internal/xlsx"
)

// known are the formats that are not text.
var known = []table.Format{xlsx.Format(), parquet.Format(), arrow.Format()}

func decode(name string, text []byte, o table.Options) (*table.Table, error) {
	return table.File{Name: name, Bytes: io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text)))}.Read(o)
}

func decodeKnown(name string, text []byte, sheet string) (*table.Table, error) {
	return decode(name, text, table.Options{Formats: known, Sheet: sheet})
}

func bytesOf(t *testing.T, name string) []byte {
	t.Helper()
	return must.Of(os.ReadFile(filepath.Join("testdata", name)))(t)
}

// encoderOf is what all rows of a table with target y teach.
func encoderOf(t *testing.T, tab *table.Table, categorical ...string) *table.Encoder {
	t.Helper()
	d := must.Of(table.Choose(tab, table.Wanted{Targets: []string{"y"}, Categorical: categorical}))(t)
	return must.Of(d.Fit(d.Rows()))(t)
}

// features are those of all rows of a table with target y, with their names and the target.
func features(t *testing.T, tab *table.Table, categorical ...string) (names []string, x *mat.Dense, y []float64) {
	t.Helper()
	e := encoderOf(t, tab, categorical...)
	r := must.Of(e.Read(tab, []string{"y"}, false))(t)
	return e.Features(), r.Encode(r.Rows(), false).Dense(), r.Targets(r.Rows())[0]
}

// Files of pandas, openpyxl and pyarrow give the features of the same table as CSV. (mixed.csv was written by pandas
// from the same frame.)
func TestFormatsEqualCSV(t *testing.T) {
	text := string(bytesOf(t, "mixed.csv"))
	for _, name := range []string{"mixed.xlsx", "mixed.parquet", "mixed-gzip.parquet", "mixed.arrow", "mixed-zstd.arrow",
		"mixed-lz4.feather", "mixed.arrows"} {
		t.Run(name, func(t *testing.T) {
			csv := must.Of(decode("mixed.csv", []byte(text), table.Options{}))(t)
			names, x, y := features(t, csv)
			require.Greater(t, len(names), 8)
			got := must.Of(table.Read(filepath.Join("testdata", name), table.Options{Formats: known}))(t)
			require.Equal(t, csv.Names(), got.Names())
			require.Equal(t, csv.Rows(), got.Rows())
			gotNames, gotX, gotY := features(t, got)
			require.Equal(t, names, gotNames)
			require.Equal(t, y, gotY)
			require.True(t, mat.EqualApprox(x, gotX, 1e-12))
			for j, c := range csv.Columns() {
				require.Equal(t, c.Missing, got.Columns()[j].Missing, c.Name)
				require.Equal(t, c.Kind, got.Columns()[j].Kind, c.Name)
			}
			// A model that was learned from one reads the other.
			r := must.Of(encoderOf(t, csv).Read(got, []string{"y"}, false))(t)
			require.True(t, mat.EqualApprox(x, r.Encode(r.Rows(), false).Dense(), 1e-12))
			// Texts keep the zeros before their digits as levels.
			names, _, _ = features(t, got, "zip")
			require.Contains(t, names, "zip=02692")
		})
	}
}

// Files that are not complete end with an error. (For others that are damaged see TestDamagedWithinBudget.)
func TestFormatsCut(t *testing.T) {
	for _, name := range []string{"mixed.xlsx", "mixed.parquet", "mixed-gzip.parquet", "mixed.arrow", "mixed-lz4.feather",
		"kinds.arrow"} {
		text := bytesOf(t, name)
		for at := 0; at < len(text); at += 1 + len(text)/60 {
			_, err := decodeKnown(name, text[:at], "")
			require.Error(t, err)
		}
	}
}

func TestSheets(t *testing.T) {
	text := bytesOf(t, "mixed.xlsx")
	first := must.Of(decodeKnown("f.xlsx", text, ""))(t)
	require.Equal(t, `the workbook has 2 sheets, of which the first, "data", is read (Options.Sheet names another)`,
		first.Findings()[0].Text)
	other := must.Of(decodeKnown("f.xlsx", text, "other"))(t)
	require.Equal(t, []string{"a", "b"}, other.Names())
	require.Equal(t, 2, other.Rows())
	require.Empty(t, other.Findings())
	_, err := decodeKnown("f.xlsx", text, "third")
	require.EqualError(t, err, `f.xlsx: has no sheet "third"; there are: "data", "other"`)
	_, err = decodeKnown("f.csv", []byte("a,b\n1,2\n"), "third")
	require.ErrorContains(t, err, "is no workbook")
}

// withSheet is the workbook of testdata with another first sheet.
func withSheet(t *testing.T, rows string) []byte {
	t.Helper()
	text := bytesOf(t, "mixed.xlsx")
	from := must.Of(zip.NewReader(bytes.NewReader(text), int64(len(text))))(t)
	var out bytes.Buffer
	to := zip.NewWriter(&out)
	for _, f := range from.File {
		w := must.Of(to.Create(f.Name))(t)
		if f.Name == "xl/worksheets/sheet1.xml" {
			must.Of(io.WriteString(w, "<worksheet><sheetData>"+rows+"</sheetData></worksheet>"))(t)
			continue
		}
		r := must.Of(f.Open())(t)
		must.Of(io.Copy(w, r))(t)
	}
	w := must.Of(to.Create("xl/sharedStrings.xml"))(t)
	must.Of(io.WriteString(w, `<sst><si><t>one</t></si><si><r><t>tw</t></r><r><t>o</t></r><rPh><t>x</t></rPh></si></sst>`))(t)
	require.NoError(t, to.Close())
	return out.Bytes()
}

// A byte of a sheet that was changed in the archive is noticed, by its checksum at the latest.
func TestSheetChecksum(t *testing.T) {
	text := withSheet(t, `<row><c t="str"><v>a</v></c></row><row><c><v>1</v></c></row>`)
	archive := must.Of(zip.NewReader(bytes.NewReader(text), int64(len(text))))(t)
	k := slices.IndexFunc(archive.File, func(f *zip.File) bool { return f.Name == "xl/worksheets/sheet1.xml" })
	start := must.Of(archive.File[k].DataOffset())(t)
	for at := start; at < start+int64(archive.File[k].CompressedSize64); at++ {
		changed := bytes.Clone(text)
		changed[at] ^= 4
		_, err := decodeKnown("f.xlsx", changed, "")
		require.Error(t, err)
	}
}

// In a column that is read verbatim the text NA is a text, and an empty cell missing; elsewhere both are.
func TestVerbatimFormats(t *testing.T) {
	type row struct {
		ID, Other string
	}
	file := parquetOf(t, []row{{"NA", "NA"}, {"007", "7"}, {"", "z"}, {"12", "x"}})
	cells := func(id, other string) string {
		return `<row><c t="str"><v>` + id + `</v></c><c t="str"><v>` + other + `</v></c></row>`
	}
	book := withSheet(t, cells("ID", "Other")+cells("NA", "NA")+cells("007", "7")+cells("", "z")+cells("12", "x"))
	for name, text := range map[string][]byte{"f.parquet": file, "f.xlsx": book} {
		for _, verbatim := range []bool{true, false} {
			o := table.Options{Formats: known}
			first := ""
			if verbatim {
				o.Verbatim, first = []string{"ID", "absent"}, "NA"
			}
			tab, err := decode(name, text, o)
			require.NoError(t, err, name)
			require.Equal(t, [][]string{{first, ""}, {"007", "7"}, {"", "z"}, {"12", "x"}}, cellsOf(t, tab), "%s %v", name,
				verbatim)
		}
	}
}

// Cells of all kinds, and what is told of them. An end of a row that was ended, which is no XML, is passed over.
func TestCellsOfSheets(t *testing.T) {
	const names = `<!-- it's > --><x:row r="2"><c r="B2" t="inlineStr"><is><r><t>a&#38;</t></r><r><t><![CDATA[ <b>]]></t></r>` +
		`<rPh><t>x</t></rPh></is></c><c note=">" t = 'str'><v>y</v></c></x:row></row>`
	tab := must.Of(decodeKnown("f.xlsx", withSheet(t, names+
		`<row r="4"><c r="A4" t="s"><v>1</v></c><c r="B4" t="b"><v>1</v></c><c r="C4"><v>1.5e2</v></c></row>`+
		`<row r="5"><c r="B5" t="e"><v>#DIV/0!</v></c><c r="C5"><f>1+1</f></c></row>`+
		`<row r="6"><c r="A6" t="d"><v>2024-02-29</v></c><c r="B6" t="str"><v>NA</v></c><c r="C6"><f>1+1</f><v>2</v></c></row>`+
		`<row r="7"></row></row></row>`), ""))(t)
	require.Equal(t, []string{"Unnamed: 0", "a& <b>", "y"}, tab.Names())
	require.Equal(t, [][]string{{"two", "True", "150"}, {"", "", ""}, {"2024-02-29", "", "2"}}, cellsOf(t, tab))
	for i := range 3 {
		require.Equal(t, i+4, tab.Line(i))
	}
	var told []string
	for _, f := range tab.Findings()[1:] {
		told = append(told, f.Text)
	}
	require.Equal(t, []string{"cells that hold an error such as #DIV/0!: 1; they count as missing",
		"cells with a formula whose value was not saved: 1; they count as missing"}, told)

	numbers := must.Of(decodeKnown("f.xlsx",
		withSheet(t, `<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c><c><v>4</v></c></row>`), ""))(t)
	require.Equal(t, []string{"x1", "x2"}, numbers.Names())
	require.Equal(t, 2, numbers.Rows())
	require.Equal(t, 1, numbers.Index("2"))
	d := must.Of(table.Choose(numbers, table.Wanted{Targets: []string{"2"}}))(t)
	e := must.Of(d.Fit(d.Rows()))(t)
	require.Equal(t, []string{"x1"}, e.Features(), "the first column of a sheet without names is data")
}

func TestWrongSheets(t *testing.T) {
	const names = `<row r="1"><c r="A1" t="str"><v>a</v></c><c r="B1" t="str"><v>b</v></c></row>`
	for rows, want := range map[string]string{
		"":    `f.xlsx: the sheet "data" is empty, expected a row of column names and rows of data`,
		names: "f.xlsx: has column names and no rows, expected at least one row of data",
		names + `<row r="2"><c r="D2"><v>1</v></c></row>`:         `f.xlsx:2: has a cell in column D, expected none after B, the last one with a name in the first row of the sheet "data" (1 such rows)`,
		names + `<row r="2"><c r="A2"><v>1..2</v></c></row>`:      "f.xlsx: is an Excel workbook that is damaged: sheet1.xml: a cell of row 2 has the number \"1..2\"",
		names + `<row r="2"><c r="A2" t="s"><v>999</v></c></row>`: "f.xlsx: is an Excel workbook that is damaged: sheet1.xml: a cell of row 2 has text \"999\" of",
		names + `<row r="1"><c r="A1"><v>1</v></c></row>`:         "row 1 stands after row 1",
		names + "<!--":                                       "sheet1.xml: unexpected EOF",
		names + `<row r="9999999"></row>`:                    "row 9999999 stands after row 1",
		names + `<row r="2"><c r="ZZZZ2"><v>1</v></c></row>`: "stands at",
		names + `<row r="2"><c t="str"><v>` + strings.Repeat("x", 9<<20) +
			`</v></c></row>`: "longer than any that Excel writes",
	} {
		_, err := decodeKnown("f.xlsx", withSheet(t, rows), "")
		require.ErrorContains(t, err, want)
	}
}

// kinds.csv has, written by hand, the columns of kinds.parquet that a table can have.
func TestKindsOfParquet(t *testing.T) {
	csv := must.Of(table.Read("testdata/kinds.csv", table.Options{}))(t)
	got := must.Of(table.Read("testdata/kinds.parquet", table.Options{Formats: known}))(t)
	require.Equal(t, csv.Names(), got.Names())
	require.Equal(t, cellsOf(t, csv), cellsOf(t, got))
	require.Equal(t, `columns "list", "structure", "bytes": lists, structures or bytes, left out`, got.Findings()[0].Text)
}

// So have the columns of kinds.arrow, which pyarrow wrote of the same table in parts of two rows, by Zstandard; what
// the format has beside those is written here.
func TestKindsOfArrow(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(string(bytesOf(t, "kinds.csv")), "\n"), "\n")
	for i, more := range []string{"view,again,span,d64,d256,last", "short,p,1.5,1970-01-01,-12.345,1", ",q,,1970-01-02,,2",
		`"longer than twelve bytes, in a buffer",p,-0.25,,7,3`} {
		lines[i] += "," + more
	}
	csv := must.Of(decode("kinds.csv", []byte(strings.Join(lines, "\n")+"\n"), table.Options{}))(t)
	for _, name := range []string{"kinds.arrow", "kinds.arrows"} {
		got := must.Of(table.Read(filepath.Join("testdata", name), table.Options{Formats: known}))(t)
		require.Equal(t, csv.Names(), got.Names())
		require.Equal(t, cellsOf(t, csv), cellsOf(t, got))
		require.Equal(
			t, `columns "list", "structure", "bytes", "union", "map", "fixed": lists, structures or bytes, left out`,
			got.Findings()[0].Text)
	}
}

// A stream of pyarrow in which another dictionary takes the place of the first one; it may end without its mark, but
// not within a message.
func TestStream(t *testing.T) {
	text := bytesOf(t, "replaced.arrows")
	csv := must.Of(decode("f.csv", []byte("g,y\na,1\nb,2\na,3\nc,4\na,5\n,\n"), table.Options{}))(t)
	for _, part := range [][]byte{text, text[:len(text)-8]} {
		got := must.Of(decodeKnown("f", part, ""))(t)
		require.Equal(t, cellsOf(t, csv), cellsOf(t, got))
	}
	_, err := decodeKnown("f", text[:len(text)-16], "")
	require.ErrorContains(t, err, "is an Arrow file that is damaged")
	_, err = decodeKnown("f.feather", []byte("FEA1 and more"), "")
	require.ErrorContains(t, err, "Feather file of version 1, which is not read; write it as one of version 2")
}

// cellsOf are the texts of the cells of a table.
func cellsOf(t *testing.T, tab *table.Table) (rows [][]string) {
	t.Helper()
	for i := range tab.Rows() {
		var row []string
		for j := range tab.Names() {
			text := must.Of(tab.Text(i, j))(t)
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// What a file says of itself does not decide how much memory is taken: files of 8 kB with wrong bytes take at most a
// thousand times as much.
func TestDamagedTakesLittle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"mixed.parquet", "mixed-gzip.parquet", "kinds.parquet", "mixed.arrow",
		"mixed-zstd.arrow", "mixed-lz4.feather", "kinds.arrow", "mixed.arrows", "kinds.arrows", "replaced.arrows"} {
		text := bytesOf(t, name)
		for range 1000 {
			changed := bytes.Clone(text)
			for range 1 + random.IntN(4) {
				changed[random.IntN(len(text))] = byte(random.IntN(256))
			}
			require.Less(t, readertest.Allocated(func() {
				if tab, err := decodeKnown(name, changed, ""); err == nil {
					require.LessOrEqual(t, tab.Rows(), 40)
				}
			}), uint64(8<<20))
		}
	}
}

// A description of a Parquet file whose list has more elements than the description has bytes.
func TestLongListTakesLittle(t *testing.T) {
	const version, schema = "\x15\x02", "\x19\xfc\xff\xff\xff\xff\x07" // 1, and 2^31 - 1 structures
	file := []byte("PAR1" + version + schema + "\x09\x00\x00\x00PAR1")
	require.Less(t, readertest.Allocated(func() {
		_, err := decodeKnown("long.parquet", file, "")
		require.ErrorContains(t, err, "its description is damaged")
	}), uint64(1<<20))
}

// Whatever a workbook, a Parquet or an Arrow file holds, reading ends with a table or an error. Without
// -fuzzminimizetime 20x, as in the Makefile, Go makes each new input smaller for up to a minute, and counts nothing
// meanwhile.
func FuzzFormats(f *testing.F) {
	for _, name := range []string{"mixed.xlsx", "mixed.parquet", "mixed-gzip.parquet", "kinds.parquet", "mixed.arrow",
		"mixed-lz4.feather", "kinds.arrow", "mixed.arrows", "replaced.arrows"} {
		text := must.Of(os.ReadFile(filepath.Join("testdata", name)))(f)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tab, err := decodeKnown("f", text, "")
		if err == nil {
			require.Positive(t, tab.Rows())
		}
	})
}

// A page of a Parquet file that says that it takes more bytes than there are numbers of 64 bits for, with those in the
// file, is refused: the budget does not grow by it, and sizes of pages have 32 bits.
func TestPageOfManyBytes(t *testing.T) {
	number := func(v int64) []byte { return binary.AppendVarint(nil, v) } // as Thrift's compact protocol has it
	join := func(parts ...any) (out []byte) {
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				out = append(out, p...)
			case []byte:
				out = append(out, p...)
			}
		}
		return out
	}
	file := func(size int64) []byte {
		data := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 7), 8)
		page := join("\x15\x00\x15", number(size), "\x15", number(int64(len(data))),
			"\x2c\x15\x04\x15\x00\x15\x06\x15\x06\x00\x00", data)
		length := number(int64(len(page)))
		footer := join("\x15\x02\x19\x2c", "\x48\x01s\x15\x02\x00", "\x15\x04\x25\x00\x18\x01a\x00", "\x16\x04\x19\x1c",
			"\x19\x1c\x26\x00\x1c\x15\x04\x19\x15\x00\x19\x18\x01a\x15\x00\x16\x04\x16", length, "\x16", length,
			"\x26\x08\x00\x00", "\x16", length, "\x16\x04\x00\x00")
		return join("PAR1", page, footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), "PAR1")
	}
	tab := must.Of(decodeKnown("f.parquet", file(16), ""))(t)
	require.Equal(t, [][]string{{"7"}, {"8"}}, cellsOf(t, tab))
	_, err := decodeKnown("f.parquet", file(math.MaxInt64), "")
	require.ErrorContains(t, err, "its description is damaged")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(16 << 20))
	_, err = decodeKnown("f.parquet", file(math.MaxInt32), "")
	require.ErrorContains(t, err, "f.parquet: a page of it does not fit into the budget of memory")
}
