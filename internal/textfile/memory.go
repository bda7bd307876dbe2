package textfile

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/conetune/conetune/internal/memory"
)

// budget is what is left of the memory.
type budget struct {
	limit, used float64
	over        *Error // of what grew beyond it
}

// SetMemory replaces the budget by so many bytes.
func (s *Source) SetMemory(bytes int64) { s.budget.limit = float64(bytes) }

// left is how much is left.
func (s *Source) left() float64 { return s.budget.limit - s.budget.used }

// Charge takes bytes from the budget, for what a number on a line asks for. An error about that line and
// field says what it was, and what the budget is.
func (s *Source) Charge(line int, field string, bytes float64, what string, args ...any) error {
	// Without the second bound, a length could be larger than an int of 32 bits.
	if bytes <= s.left() && bytes <= math.MaxInt {
		s.budget.used += bytes
		return nil
	}
	return s.Errorf(line, field, "%s", fmt.Sprintf(what, args...)+s.tooMuch(s.budget.used+bytes))
}

// Take takes bytes from the budget, for what grows with the text. Where there are not enough left, the
// next call of Line is the error.
func (s *Source) Take(bytes int) {
	s.budget.used += float64(bytes)
	if s.budget.over == nil && s.left() < 0 {
		s.budget.over = s.Errorf(s.line, "", "%s", "what was read up to here"+s.tooMuch(s.budget.used))
	}
}

// Over is the error about what grew beyond the budget, nil while there is none.
func (s *Source) Over() error {
	if s.budget.over == nil {
		return nil
	}
	return s.budget.over
}

func (s *Source) tooMuch(bytes float64) string {
	return fmt.Sprintf(" takes about %s of memory, but the budget is %s ("+memory.More+")",
		memory.Format(int64(min(bytes, 1e18))), memory.Format(int64(s.budget.limit)))
}

// Grow returns values with room for n more entries, for as many again where it must allocate. What it allocates is
// taken from the budget, see [Source.Take], and where it can, no more than is left.
func Grow[E any](s *Source, values []E, n int) []E {
	if cap(values)-len(values) >= n {
		return values
	}
	room := max(n, len(values))
	size := int(unsafe.Sizeof(*new(E)))
	if most := s.left()/float64(size) + float64(cap(values)-len(values)); float64(room) > most {
		room = max(n, int(max(most, 0)))
	}
	grown := make([]E, len(values), len(values)+room)
	copy(grown, values)
	s.Take(size * (cap(grown) - cap(values)))
	return grown
}
