// Package formats has what the readers of programs in its folders have in common:
//
//	qps       linear and quadratic programs in QPS and MPS files
//	sdpa      semidefinite programs in the sparse format of SDPA
//	cbf       conic programs in the Conic Benchmark Format
//
// Errors about a file, also about a table of package table, are an [*Error], with file, line and field.
package formats

import "github.com/conetune/conetune/internal/textfile"

// Error says what is wrong in a file, and where.
type Error = textfile.Error
