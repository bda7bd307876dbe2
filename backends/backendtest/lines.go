package backendtest

import "github.com/conetune/conetune/backends"

// Lines is b without its cones but intervals, as a backend of quadratic programs is.
func Lines(b backends.ConicBackend) backends.ConicBackend { return lines{b} }

type lines struct{ backends.ConicBackend }

func (l lines) Capabilities() backends.Capabilities {
	c := l.ConicBackend.Capabilities()
	c.Cones = []backends.ConeKind{backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone}
	return c
}
