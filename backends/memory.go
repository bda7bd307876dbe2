package backends

import (
	"fmt"

	"github.com/conetune/conetune/internal/memory"
)

// MemoryError says that a problem needs more memory than Options.Memory allows. It is
// returned, by Setup or Solve, before that memory is allocated.
type MemoryError struct {
	Need, Limit int64  // bytes; Need is what is known by then, the whole may need more
	What        string // what the last of it is for, such as "the factors of the Newton systems"
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("backends: %s would take the memory of this problem to %s, and %s are allowed", e.What,
		memory.Format(e.Need), memory.Format(e.Limit))
}
