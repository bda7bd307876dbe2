package native

import "github.com/conetune/conetune/backends"

// memory counts the bytes that a solver holds, before they are allocated, against Options.Memory. What is
// small beside the rest is left out.
type memory struct {
	limit int64 // 0: none
	taken int64
}

// take counts bytes that stay. The error is a *backends.MemoryError.
func (m *memory) take(what string, bytes int64) error {
	if err := m.fits(what, bytes); err != nil {
		return err
	}
	m.taken += bytes
	return nil
}

// fits says whether so many bytes more would be within the limit.
func (m *memory) fits(what string, bytes int64) error {
	if need := m.taken + bytes; m.limit > 0 && need > m.limit {
		return &backends.MemoryError{Need: need, Limit: m.limit, What: what}
	}
	return nil
}
