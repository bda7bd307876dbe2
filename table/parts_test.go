package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// longTable is a table of several blocks of text, with texts, gaps, dates, amounts and levels that come late.
func longTable(rows int) string {
	r := rand.New(rand.NewPCG(3, 1))
	var b strings.Builder
	b.WriteString("id,size,place,day,price,y\n")
	for i := range rows {
		place := []string{"north", "south", "east"}[r.IntN(3)]
		if i > rows-20 {
			place = "moon"
		}
		size := fmt.Sprintf("%.3f", r.NormFloat64())
		if r.IntN(11) == 0 {
			size = ""
		}
		fmt.Fprintf(&b, "%06d,%s,%s,2024-%02d-%02d,\"$%d,%03d\",%d\n", i, size, place, 1+r.IntN(12), 1+r.IntN(28),
			1+r.IntN(9), r.IntN(1000), r.IntN(50))
	}
	return b.String()
}

// textsOf are the texts of all cells of a table, with the lines.
func textsOf(t *testing.T, table *Table) (list []string) {
	t.Helper()
	for i := range table.Rows() {
		line := fmt.Sprint(table.Line(i))
		for j := range table.Columns() {
			text := must.Of(table.Text(i, j))(t)
			line += "|" + text
		}
		list = append(list, line)
	}
	return list
}

// The parts of a table are the table, and what an encoder makes of them is what it makes of the table.
func TestParts(t *testing.T) {
	text := longTable(30_000)
	whole := decode(t, text, Options{})
	few := decode(t, text[:strings.Index(text, "\n000200")], Options{})
	design := must.Of(Choose(few, Wanted{Targets: []string{"y"}}))(t)
	encoder := must.Of(design.Fit(design.Rows()))(t)
	reading := must.Of(encoder.Read(whole, []string{"y"}, true))(t)
	want := reading.Encode(reading.Rows(), false)

	for _, bounds := range []parts{{rows: 1, cells: math.MaxInt}, {rows: math.MaxInt, cells: 40_000},
		{rows: math.MaxInt, cells: math.MaxInt}} {
		var got []string
		var last *Reading
		var targets []float64
		number, begun := 0, 0
		at := 0
		bounds.hand = func(part *Table) error {
			number++
			got = append(got, textsOf(t, part)...)
			r := must.Of(encoder.Read(part, []string{"y"}, true))(t)
			data := r.Encode(r.Rows(), false)
			for i := range part.Rows() {
				for j := range encoder.Features() {
					require.Equal(t, want.Dense().At(at+i, j), data.Dense().At(i, j))
				}
			}
			at += part.Rows()
			targets = append(targets, r.Targets(r.Rows())[0]...)
			if last != nil {
				r.Follow(last)
			}
			last = r
			return nil
		}
		findings := must.Of(textInput("t", []byte(text)).readParts(Options{}, &bounds, func() { begun++ }))(t)
		require.Equal(t, 1, begun)
		require.Equal(t, bounds.rows == math.MaxInt && bounds.cells == math.MaxInt, number == 1)
		require.Equal(t, whole.Findings(), findings)
		require.Equal(t, textsOf(t, whole), got)
		require.Equal(t, reading.Targets(reading.Rows())[0], targets)
		require.Equal(t, reading.Findings(), last.Findings())
	}
}

// A line end in quotes, found after parts were handed on, begins anew; an error ends the reading with what it says of
// the whole file.
func TestPartsBeginAnew(t *testing.T) {
	text := longTable(10_000)
	quoted := text + "x,1,\"north\nwest\",2024-01-01,$1,3\n"
	whole := decode(t, quoted, Options{})
	var got []string
	begun, handed := 0, 0
	p := &parts{rows: 1, cells: math.MaxInt, hand: func(part *Table) error {
		handed++
		got = append(got, textsOf(t, part)...)
		return nil
	}}
	findings := must.Of(textInput("t", []byte(quoted)).readParts(Options{}, p, func() { begun++; got = nil }))(t)
	require.Equal(t, 2, begun)
	require.Greater(t, handed, 4)
	require.Equal(t, whole.Findings(), findings)
	require.Equal(t, textsOf(t, whole), got)

	_, want := readText("t", []byte(text+"1,2\n"), Options{})
	_, err := textInput("t", []byte(text+"1,2\n")).readParts(Options{}, p, func() {})
	require.EqualError(t, err, want.Error())
	_, want = readText("t", []byte("a,b\n"), Options{})
	_, err = decodeParts("t", []byte("a,b\n"), Options{}, func() {}, func(*Table) error { return nil })
	require.EqualError(t, err, want.Error())
	boom := fmt.Errorf("boom")
	_, err = decodeParts("t", []byte(text), Options{}, func() {}, func(*Table) error { return boom })
	require.ErrorIs(t, err, boom)
	_, err = decodeParts("t", []byte(text), Options{}, nil, nil)
	require.Error(t, err)
	_, err = File{Name: filepath.Join(t.TempDir(), "absent.csv")}.ReadParts(Options{}, func() {},
		func(*Table) error { return nil })
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The memory of parts goes back: a table that is beyond the budget as a whole is read in parts.
func TestPartsMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a table of 20 MB")
	}
	const many = 500_000
	row := []byte(strings.Repeat("1,", 19) + "2\n")
	text := append([]byte(strings.Repeat("a,", 19)+"b\n"), bytes.Repeat(row, many)...)
	for j := range 19 {
		text[2*j] = byte('A' + j)
	}
	// parts have 4 M cells and the rest of a block, 35 MB; the table has 80
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(50e6))
	_, err := readText("t", text, Options{})
	require.ErrorContains(t, err, "of memory, but the budget is")
	rows, sum := 0, 0.0
	must.Of(decodeParts("t", text, Options{}, func() {}, func(part *Table) error {
		rows += part.Rows()
		sum += part.cell(part.Rows()-1, 19)
		return nil
	}))(t)
	require.Equal(t, many, rows)
	require.Equal(t, 6.0, sum) // three parts, the last cell of each
}

// Whatever a file holds, reading ends with a table or an error, and what is read can be used.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		people, "a;b\n1,5;2\n", "sep=;\na;b\n1;2\n", "# c\n#a b\n1 2\n", "\"a\",\"b\nc\"\n1,\"x\ny\"\n",
		"\xff\xfea\x00,\x00b\x00\n\x001\x00,\x002\x00", "a\rb\r", "5.1,3,a\n4,3,b\n",
		"a,b\n1e999,inf\n", "x,y\n\xfc,1\n", "BZh91AY", "\x1f\x8b\x08", "PK\x03\x04", "a\tb\n\t\n",
		"\"\"\"a\",b\n\"\"\"\",2\n", "a,b\n 1 , \"2\" x\n", "y,d\n1,2020-01-01\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		for _, o := range []Options{{}, {Separator: "space", Header: "no"}, {Separator: ";", Decimal: ",", Comment: "none",
			Encoding: Latin1}} {
			table, err := readText("f", text, o)
			if err != nil {
				continue
			}
			for _, w := range []Wanted{{Targets: table.Names()[:1]}, {Targets: table.Names()[len(table.Names())-1:],
				Classes: true, Missing: DropRows}} {
				d, err := Choose(table, w)
				if err != nil {
					continue
				}
				rows := d.Rows()
				e, err := d.Fit(rows[:(len(rows)+1)/2])
				if err != nil {
					continue
				}
				r := must.Of(e.Read(table, d.Targets(), false))(t)
				require.Equal(t, rows, r.Rows())
				dense, sparse := r.Encode(rows, false), r.Encode(rows, true)
				require.NoError(t, dense.Validate())
				require.NoError(t, sparse.Validate())
				require.Equal(t, dense.Dense(), sparse.Dense())
			}
		}
	})
}

// A table that is written by another program is read back as it was, with every separator.
func TestWriteAndRead(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"", "red", "a,b", "a;b", "say \"so\"", "Größe", "two\nlines", " spaced ", "#1", "x'y", "NAN1", "-",
		"1-2", "a\tb"}
	for range 300 {
		p, n := 2+random.IntN(6), 1+random.IntN(40)
		rows := [][]string{}
		names := []string{}
		for j := range p {
			names = append(names, "c"+strconv.Itoa(j))
		}
		kinds := make([]int, p)
		for j := range kinds {
			kinds[j] = random.IntN(3)
		}
		kinds[0] = 0 // so that the first line is seen to be names
		for range n {
			var row []string
			for j := range p {
				switch {
				case kinds[j] == 0:
					row = append(row, formatNumber(float64(random.IntN(2000)-1000)/8))
				case kinds[j] == 1:
					row = append(row, words[random.IntN(len(words))])
				default:
					row = append(row, "w"+strconv.Itoa(random.IntN(5)))
				}
			}
			rows = append(rows, row)
		}
		for _, separator := range []rune{',', ';', '\t', '|'} {
			var b strings.Builder
			w := csv.NewWriter(&b)
			w.Comma = separator
			w.UseCRLF = random.IntN(2) == 0
			require.NoError(t, w.WriteAll(append([][]string{names}, rows...)))
			table, err := readText("f", []byte(b.String()), Options{Separator: string(separator), Comment: "none"})
			require.NoError(t, err, b.String())
			require.Equal(t, names, table.Names())
			require.Equal(t, n, table.Rows())
			for i, row := range rows {
				for j, want := range row {
					got, there := table.columns[j].level(table.cell(i, j))
					want = strings.TrimSpace(strings.ReplaceAll(want, "\n", " "))
					require.Equal(t, want != "", there, b.String())
					if there {
						require.Equal(t, want, strings.ReplaceAll(got, "  ", " "), b.String())
					}
				}
			}
		}
	}
}
