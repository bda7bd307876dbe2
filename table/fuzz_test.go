package table

import (
	"encoding/csv"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

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
				require.Equal(t, dense.X, sparse.Dense())
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
