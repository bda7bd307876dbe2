//go:build parquet

package input

import (
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/parquet"
)

// ReadsParquet says that this build reads Parquet files.
const ReadsParquet = true

func parquetFormat() table.Format { return parquet.Format() }
