//go:build !parquet

package input

import (
	"io"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table"
)

// ReadsParquet says that this build reads Parquet files. The library that does takes a third of the time of a first
// build.
const ReadsParquet = false

// parquetFormat knows Parquet files by their first bytes, and says which build reads them.
func parquetFormat() table.Format {
	return table.Format{
		Name: "a Parquet file",
		Is:   func(r io.ReaderAt, _ int64) bool { return table.Begins(r, "PAR1") },
		Read: func(file string, _ io.ReaderAt, _ int64, _ table.Options) (*table.Table, error) {
			return nil, &textfile.Error{File: file, Reason: "is a Parquet file, which this build does not read: build the " +
				"command with make, or with go build -tags parquet ./cmd/conetune, or write the table as CSV"}
		},
	}
}
