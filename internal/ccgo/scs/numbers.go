//go:build scs_go

package scs

import (
	"github.com/conetune/conetune/internal/ccgo/scs/lib"
	mirror "github.com/conetune/conetune/internal/mirror/scs"
)

// The numbers of the mirror are those of C: a difference is an index out of range.
var same [1]struct{}

var (
	_ = same[mirror.Infeasible-lib.MSCS_INFEASIBLE]
	_ = same[mirror.InfeasibleInaccurate-lib.MSCS_INFEASIBLE_INACCURATE]
	_ = same[mirror.Unbounded-lib.MSCS_UNBOUNDED]
	_ = same[mirror.UnboundedInaccurate-lib.MSCS_UNBOUNDED_INACCURATE]
	_ = same[mirror.Solved-lib.MSCS_SOLVED]
	_ = same[mirror.SolvedInaccurate-lib.MSCS_SOLVED_INACCURATE]
	_ = same[mirror.SigInt-lib.MSCS_SIGINT]
	_ = same[mirror.Failed-lib.MSCS_FAILED]
	_ = same[mirror.Indeterminate-lib.MSCS_INDETERMINATE]
)
