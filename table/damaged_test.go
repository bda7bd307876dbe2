package table_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	goparquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/table"
)

// encodedRow has a column in each encoding.
type encodedRow struct {
	Plain   string   `parquet:"plain"`
	Dict    string   `parquet:"dict,dict"`
	Delta   string   `parquet:"delta,delta"`
	Count   int64    `parquet:"count,delta"`
	Split   float64  `parquet:"split,split"`
	Maybe   *float64 `parquet:"maybe"`
	Truth   bool     `parquet:"truth"`
	Fixed   [2]byte  `parquet:"fixed"`
	Ordered int32    `parquet:"ordered,dict"`
	Words   string   `parquet:"words,optional,delta"`
	Names   *string  `parquet:"names"`
}

var codecs = map[string]compress.Codec{"plain": &goparquet.Uncompressed, "snappy": &goparquet.Snappy,
	"gzip": &goparquet.Gzip, "brotli": &goparquet.Brotli, "zstd": &goparquet.Zstd, "lz4": &goparquet.Lz4Raw}

// ofCodec is a Parquet file of 300 rows.
func ofCodec(t testing.TB, codec string, version int) []byte {
	t.Helper()
	var rows []encodedRow
	for i := range 300 {
		r := encodedRow{"text " + strconv.Itoa(i), "level" + strconv.Itoa(i%3), fmt.Sprintf("prefix%04d", i), int64(i * i),
			float64(i) / 8, nil, i%2 == 0, [2]byte{1, byte(i)}, int32(i % 7), "", nil}
		if half := float64(i) / 2; i%5 > 0 {
			name := strconv.Itoa(i) + "x"
			r.Maybe, r.Words, r.Names = &half, fmt.Sprintf("word%d", i/2), &name
		}
		rows = append(rows, r)
	}
	return parquetOf(t, rows, goparquet.Compression(codecs[codec]), goparquet.DataPageVersion(version),
		goparquet.PageBufferSize(2000))
}

// parquetOf is a Parquet file of rows, as a library writes it.
func parquetOf[R any](t testing.TB, rows []R, o ...goparquet.WriterOption) []byte {
	t.Helper()
	var file bytes.Buffer
	w := goparquet.NewGenericWriter[R](&file, o...)
	for _, r := range rows {
		must.Of(w.Write([]R{r}))(t)
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

// Parquet files of every codec and encoding, with pages of both versions, are read.
func TestParquetCodecs(t *testing.T) {
	for codec := range codecs {
		for version := 1; version <= 2; version++ {
			tab, err := decodeKnown("f.parquet", ofCodec(t, codec, version), "")
			require.NoError(t, err, codec)
			require.Equal(t, 300, tab.Rows())
			require.Equal(t, []string{"text 201", "level0", "prefix0201", "40401", "25.125", "100.5", "False", "5", "word100",
				"201x"}, cellsOf(t, tab)[201], codec)
		}
	}
}

// A value that was changed in a page that is not compressed is noticed by the checksum of its page.
func TestParquetChecksum(t *testing.T) {
	text := ofCodec(t, "plain", 2)
	k := bytes.Index(text, []byte("text 123"))
	require.Positive(t, k)
	text[k]++
	_, err := decodeKnown("f.parquet", text, "")
	require.ErrorContains(t, err, "checksum")
}

// packs are texts in all ways of compression.
func packs(t testing.TB, text []byte) map[string][]byte {
	t.Helper()
	var gz, zst, zipped bytes.Buffer
	g := gzip.NewWriter(&gz)
	z := must.Of(zstd.NewWriter(&zst))(t)
	archive := zip.NewWriter(&zipped)
	member := must.Of(archive.Create("table.csv"))(t)
	for _, w := range []io.Writer{g, z, member} {
		must.Of(w.Write(text))(t)
	}
	for _, c := range []io.Closer{g, z, archive} {
		require.NoError(t, c.Close())
	}
	return map[string][]byte{"f.csv.gz": gz.Bytes(), "f.csv.zst": zst.Bytes(), "f.zip": zipped.Bytes()}
}

// Packed texts are read, and said to be wrong where they are cut.
func TestPacked(t *testing.T) {
	const text = "name,y\nz,1\nw,2\n"
	const bzipped = "QlpoOTFBWSZTWaT8f0IAAAXZgAAQAAQwACIDALAgACIAD1CAaaaIjg3EAElvF3JFOFCQpPx/Qg=="
	files := packs(t, []byte(text))
	var err error
	files["f.bz2"] = must.Of(base64.StdEncoding.DecodeString(bzipped))(t) // of the program bzip2
	for name, packed := range files {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, packed, 0o600))
		for _, tab := range []*table.Table{must.Of(table.Read(path, table.Options{}))(t),
			must.Of(decodeKnown("f", packed, ""))(t)} {
			require.Equal(t, [][]string{{"z", "1"}, {"w", "2"}}, cellsOf(t, tab), name)
		}
		_, err := decodeKnown("f", packed[:len(packed)-6], "")
		require.Error(t, err, name)
	}
	var two bytes.Buffer
	z := zip.NewWriter(&two)
	for _, name := range []string{"a.csv", "b.csv"} {
		must.Of(z.Create(name))(t)
	}
	require.NoError(t, z.Close())
	_, err = decodeKnown("f", two.Bytes(), "")
	require.EqualError(t, err, `f: is a zip archive of 2 files, expected one table: unpack it ("a.csv", "b.csv")`)
}

// What is wrong with compressed data is said as it is: what follows them, what is missing, what is damaged, and
// archives without files.
func TestDamagedPacks(t *testing.T) {
	const text = "a,b,y\n1,2,3\n4,5,6\n7,8,9\n"
	gz := string(packs(t, []byte(text))["f.csv.gz"])
	const bz = "BZh91AY&SY\x00\x00\x00\x00" // the head of a block, and no more
	for _, c := range []struct{ name, data, want string }{
		{"f.gz", gz + "abc", "f.gz: the gzip data end too early, is the file complete?"},
		{"f.gz", gz + "0123456789", "f.gz: the gzip data are damaged: gzip: invalid header"},
		{"f.gz", gz + "\x1f\x8b", "f.gz: the gzip data end too early, is the file complete?"},
		{"f.gz", gz[:len(gz)-3], "f.gz: the gzip data end too early, is the file complete?"},
		{"f.gz", gz[:5], "f.gz: the gzip data end too early, is the file complete?"},
		{"f.gz", "\x1f\x9b" + gz[2:],
			"f.gz: does not begin as gzip data do, which its name promises, and is not text either: is it damaged?"},
		{"f.csv.bz2", "BZi91AY\x00",
			"f.csv.bz2: does not begin as bzip2 data do, which its name promises, and is not text either: is it damaged?"},
		{"f.csv.bz2", bz, "f.csv.bz2: the bzip2 data end too early, is the file complete?"},
		{"f.csv.bz2", bz[:5] + "\x00" + bz[6:], "f.csv.bz2: the bzip2 data are damaged: bad magic value found"},
		{"f.csv", "a,b\n\x00,1\n", "f.csv: is binary, expected text"},
		{"f.zip", "PK\x05\x06" + strings.Repeat("\x00", 18),
			"f.zip: is a zip archive without files, expected one with a table"},
	} {
		_, err := decodeKnown(c.name, []byte(c.data), "")
		require.EqualError(t, err, c.want)
	}
	for _, data := range []string{gz, gz + string(packs(t, nil)["f.csv.gz"])} {
		got := must.Of(decodeKnown("f.gz", []byte(data), ""))(t)
		require.Equal(t, 3, got.Rows())
	}
}

// rezipped is an archive with one of its files damaged.
func rezipped(text []byte, which int, damage func([]byte) []byte) []byte {
	from, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return text
	}
	var out bytes.Buffer
	to := zip.NewWriter(&out)
	for k, f := range from.File {
		r, _ := f.Open()
		part, _ := io.ReadAll(r)
		if k == which%len(from.File) {
			part = damage(part)
		}
		w, _ := to.Create(f.Name)
		_, _ = w.Write(part)
	}
	_ = to.Close()
	return out.Bytes()
}

// damaged changes bytes of a text, writes large numbers into it, cuts it or doubles parts of it.
func damaged(r *rand.Rand, text []byte) []byte {
	out := bytes.Clone(text)
	for range 1 + r.IntN(4) {
		if len(out) < 16 {
			return out
		}
		at := r.IntN(len(out) - 8)
		if r.IntN(3) == 0 { // where the descriptions of most formats stand
			at = max(0, len(out)-1-r.IntN(min(600, len(out)-8))-8)
		}
		switch r.IntN(8) {
		case 0:
			out[at] ^= 1 << r.IntN(8)
		case 1:
			binary.LittleEndian.PutUint32(out[at:], []uint32{1<<31 - 1, 1<<32 - 1, 1 << 30, 1 << 27, 0}[r.IntN(5)])
		case 2:
			copy(out[at:], "\xff\xff\xff\xff\x07") // 2^31 - 1 of varying length
		case 3:
			binary.LittleEndian.PutUint64(out[at:], 1<<r.IntN(63))
		case 4:
			if r.IntN(4) == 0 {
				out = out[:at]
			}
		case 5:
			n := 1 + r.IntN(min(64, len(out)-at))
			out = slices.Insert(out, at, out[at:at+n]...)
		default:
			out[at] = byte(r.IntN(256))
		}
	}
	return out
}

// A cell of half a million quotes, what a damaged file of 1 kB was, takes memory in proportion to it (found by
// TestDamagedWithinBudget, file 54260).
func TestManyQuotes(t *testing.T) {
	text := append([]byte("a,b\n1,\"x"), bytes.Repeat([]byte{'"'}, 500_000)...)
	require.Less(t, readertest.Allocated(func() { _, _ = decodeKnown("f.csv", text, "") }), uint64(100*len(text)))
}

// peak is how many bytes more than before are in use at the same time, as far as it is seen by looking all the time,
// with little that is not collected yet.
func peak(f func()) (most uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(2))
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	before := now.HeapAlloc
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	for {
		select {
		case <-done:
			return most
		default:
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc-min(before, now.HeapAlloc))
		}
	}
}

// Whatever is wrong with a file that is not text, reading it is a table or an error of one line, and takes no more
// memory than the budget. CONETUNE_DAMAGED is the number of files.
func TestDamagedWithinBudget(t *testing.T) {
	count := 3000
	if n, err := strconv.Atoi(os.Getenv("CONETUNE_DAMAGED")); err == nil {
		count = n
	}
	const budget = 64 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(budget))
	type source struct {
		name string
		text []byte
	}
	var sources []source
	files := must.Of(filepath.Glob("testdata/*"))(t)
	for _, path := range files {
		if name := filepath.Base(path); filepath.Ext(name) != ".csv" {
			sources = append(sources, source{name, bytesOf(t, name)})
		}
	}
	for codec := range codecs {
		for version := 1; version <= 2; version++ {
			sources = append(sources, source{fmt.Sprintf("%s%d.parquet", codec, version), ofCodec(t, codec, version)})
		}
	}
	for name, text := range packs(t, bytesOf(t, "mixed.csv")) {
		sources = append(sources, source{name, text})
	}
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.name, b.name) })
	r := rand.New(rand.NewPCG(37, 4))
	tables, most, of := 0, uint64(0), ""
	for k := range count {
		s := sources[k%len(sources)]
		text := damaged(r, s.text)
		if filepath.Ext(s.name) == ".xlsx" && k/len(sources)%2 == 0 { // what is compressed is not damaged by chance
			text = rezipped(s.text, r.IntN(20), func(part []byte) []byte { return damaged(r, part) })
		}
		var err error
		taken := readertest.Allocated(func() { _, err = decodeKnown(s.name, text, "") })
		if several := (interface{ Unwrap() []error })(nil); err == nil {
			tables++
		} else if !errors.As(err, &several) { // which are one line for each cell
			require.NotContains(t, err.Error(), "\n", "file %d, %s", k, s.name)
		}
		if taken > budget { // with what was given back
			taken = peak(func() { _, _ = decodeKnown(s.name, text, "") })
		}
		if taken > most {
			most, of = taken, fmt.Sprintf("file %d, %s", k, s.name)
		}
		require.LessOrEqual(t, taken, uint64(budget), "file %d, %s: %v", k, s.name, err)
	}
	t.Logf("%d files, %d of them tables; at most %.1f MB were taken (%s) of %d MB", count, tables, float64(most)/1e6, of,
		budget/1000000)
}

// A file of 2.6 kB whose page of LZ4 is damaged: a library made room for more and more, as it took each error for too
// little room.
func TestDamagedLZ4TakesLittle(t *testing.T) {
	text := ofCodec(t, "lz4", 1)
	for at := 4; at < len(text)/2; at += 7 {
		changed := bytes.Clone(text)
		copy(changed[at:], "\x00\x00\x00") // a copy from nowhere
		require.Less(t, readertest.Allocated(func() { _, _ = decodeKnown("f.parquet", changed, "") }), uint64(16<<20))
	}
}

// Texts that are put together from a few bytes, as differences from the one before, take room one after the other: 40
// MB of them, and a budget of 16.
func TestLongTextsOfDifferences(t *testing.T) {
	type row struct {
		A string `parquet:"a,delta"`
		Y int64  `parquet:"y"`
	}
	rows := make([]row, 2000)
	for i := range rows {
		rows[i] = row{strings.Repeat("x", 20000), int64(i)}
	}
	file := parquetOf(t, rows, goparquet.Compression(&goparquet.Zstd), goparquet.PageBufferSize(64<<20),
		goparquet.DataPageStatistics(false))
	const budget = 16 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(budget))
	require.Less(t, len(file), 100<<10)
	require.Less(t, peak(func() {
		got := must.Of(decodeKnown("f.parquet", file, ""))(t)
		require.Equal(t, len(rows), got.Rows())
		require.Equal(t, 1, got.Columns()[0].Levels())
	}), uint64(budget))
}
