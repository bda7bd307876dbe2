//go:build parquet

package main

import (
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/parquet"
)

// readsParquet says that this build reads Parquet files.
const readsParquet = true

func parquetFormat() table.Format { return parquet.Format() }
