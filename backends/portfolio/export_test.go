package portfolio

import "github.com/conetune/conetune/backends"

// NewAuto is Auto with an order of its own.
func NewAuto(names ...string) backends.ConicBackend { return auto{names: names} }
