// Package parquet reads Parquet files as tables (https://parquet.apache.org/docs/file-format).
//
// Numbers and decimals are numbers, texts and enumerations texts, truth values the texts True and False, as pandas
// writes them to CSV; dates and timestamps are dates, in UTC where the file says that they are moments; times of a day
// are seconds. Nulls and NaN are missing. Columns of lists, structures, maps and bytes are left out, and told.
// Lines in messages count rows from 1.
//
// Beside the table, a page of each column and its dictionaries are in memory. Values are decoded where they are asked
// for, so that a page takes no more than its bytes.
//
// Descriptions and heads of pages are those of parquet-go's package format, read within bounds. Its readers of pages
// make room for runs and counts as a file has them, which ends the process where these are damaged.
package parquet

import (
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/conetune/conetune/table"
)

// magic stands at both ends of a file.
const magic = "PAR1"

// Format is that of Parquet files, for [table.Options.Formats].
func Format() table.Format {
	is := func(r io.ReaderAt, _ int64) bool { return table.Begins(r, magic) }
	return table.Format{Name: "a Parquet file", Is: is, Read: read}
}

// column is one that is read.
type column struct {
	index    int // among those that have values
	kind     format.Type
	width    int // bytes of a value, of a text those of its length
	optional bool
	put      put
}

// columnsOf are those that a table can have with their names, and the names of the others.
func columnsOf(elements []format.SchemaElement) (columns []column, names, other []string) {
	rest, index := elements[1:], 0
	for range elements[0].NumChildren.V {
		e := &rest[0]
		if put := putter(e); put != nil {
			names = append(names, e.Name)
			optional := e.RepetitionType.V == format.Optional
			columns = append(columns, column{index, e.Type.V, width(e), optional, put})
		} else {
			other = append(other, e.Name)
		}
		for within := 1; within > 0; rest = rest[1:] { // the column, and those in it
			children := int(rest[0].NumChildren.V)
			if children == 0 {
				index++
			}
			if within--; children < 0 || children > len(rest) {
				panic(errDescription)
			}
			within += children
		}
	}
	return columns, names, other
}

func read(b *table.Builder, r io.ReaderAt, size int64) {
	d := describe(r, size)
	columns, names, other := columnsOf(d.Schema)
	if len(names) == 0 && len(other) > 0 {
		b.Fail(0, "has no column of numbers, texts, truth values or dates")
	}
	if d.NumRows > math.MaxInt32 {
		b.Fail(0, "has %d rows, expected at most %d", d.NumRows, math.MaxInt32)
	}
	b.Begin(names, 0, false)
	b.LeftOut(other)
	rows := int64(0)
	for k := range d.RowGroups {
		group := &d.RowGroups[k]
		n := group.NumRows
		if rows += n; n < 0 || n > math.MaxInt32 {
			panic(fmt.Errorf("a part of it has %d rows", n))
		}
		cursors := make([]*cursor, len(columns))
		for j := range columns {
			cursors[j] = columns[j].open(b, r, size, n, group.Columns)
		}
		for range n {
			b.Next()
			for j, c := range cursors {
				if v, there := c.value(); there {
					c.column.put(b, j, v)
				}
			}
		}
		for _, c := range cursors {
			c.close()
		}
	}
	if rows != d.NumRows {
		panic(fmt.Errorf("its parts have %d rows, but the file %d", rows, d.NumRows))
	}
}
