package export

import (
	"bytes"
	"fmt"
	"go/format"
	"go/token"
	"io"
)

// writeGo writes a package that imports the standard library alone.
func writeGo(w io.Writer, p *Program, o Options) error {
	if o.Package != "" && !token.IsIdentifier(o.Package) {
		return fmt.Errorf("%q is no name of a package", o.Package)
	}
	var b bytes.Buffer
	if err := printer("go", goText)(&b, p, o); err != nil {
		return err
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
