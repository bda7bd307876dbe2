// Package parquet reads Parquet files as tables (https://parquet.apache.org/docs/file-format).
//
// Numbers and decimals are numbers, texts and enumerations texts, truth values the texts True and False, as pandas
// writes them to CSV; dates and timestamps are dates, in UTC where the file says that they are moments; times of a day
// are seconds. Nulls and NaN are missing. Columns of lists, structures, maps and bytes are left out, and told.
// Lines in messages count rows from 1.
//
// Beside the table, a page of each column and its dictionaries are in memory. Values are decoded where they are asked
// for, so that a page takes no more than its bytes.
package parquet

import (
	"fmt"
	"io"
	"math"

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
	kind     int64
	width    int // bytes of a value, of a text those of its length
	optional bool
	put      put
}

// columns are those that a table can have with their names, and the names of the others.
func columnsOf(elements []node) (columns []column, names, other []string) {
	rest, index := elements[1:], 0
	for range elementOf(&elements[0]).children {
		e := elementOf(&rest[0])
		if put := e.putter(); put != nil {
			names = append(names, e.name)
			columns = append(columns, column{index, e.kind, e.width(), e.repeats == optional, put})
		} else {
			other = append(other, e.name)
		}
		for within := int64(1); within > 0; rest = rest[1:] { // the column, and those in it
			children := rest[0].at(5).number
			if children == 0 {
				index++
			}
			if within--; children < 0 || children > int64(len(rest)) {
				panic(errDescription)
			}
			within += children
		}
	}
	return columns, names, other
}

func read(b *table.Builder, r io.ReaderAt, size int64) {
	d := describe(r, size)
	columns, names, other := columnsOf(d.at(2).parts)
	if len(names) == 0 && len(other) > 0 {
		b.Fail(0, "has no column of numbers, texts, truth values or dates")
	}
	all := d.at(3).number
	if all > math.MaxInt32 {
		b.Fail(0, "has %d rows, expected at most %d", all, math.MaxInt32)
	}
	b.Begin(names, 0, false)
	b.LeftOut(other)
	rows := int64(0)
	for k := range d.at(4).parts {
		group := &d.at(4).parts[k]
		n := group.at(3).number
		if rows += n; n < 0 || n > math.MaxInt32 {
			panic(fmt.Errorf("a part of it has %d rows", n))
		}
		cursors := make([]*cursor, len(columns))
		for j := range columns {
			cursors[j] = columns[j].open(b, r, size, n, group.at(1).parts)
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
	if rows != all {
		panic(fmt.Errorf("its parts have %d rows, but the file %d", rows, all))
	}
}
