package portfolio

import "github.com/conetune/conetune/backends"

// Order is that in which the backends would be asked for p.
func Order(p *backends.Problem) []string { return classOf(p).order() }

// NewAuto is Auto with an order of its own.
func NewAuto(names ...string) backends.ConicBackend { return auto{names: names} }

// Choose returns the backends that Auto asks for p, in this order.
func Choose(p *backends.Problem) []choice { return auto{}.choose(p) }
