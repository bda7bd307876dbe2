package table

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/conetune/conetune/internal/textfile"
)

// Format reads files of one format that is not text, such as workbooks. The packages below this one have them;
// [Options.Formats] says which of them are read.
type Format struct {
	// Name is what a file of the format is called in messages, such as "an Excel workbook".
	Name string
	// Sheets says that its files hold several tables, of which [Options.Sheet] names one.
	Sheets bool
	// Is says whether bytes are such a file; it reads few of them.
	Is func(r io.ReaderAt, size int64) bool
	// Read reads a file into a table. What is wrong panics: with a [*formats.Error], which is told as it is, or with
	// another error or one of the runtime, which is told as damage.
	Read func(b *Builder, r io.ReaderAt, size int64)
}

// Check panics where there is an error, see [Format].Read.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// readFormat reads a file of a format that is not text, or returns nil for other files.
func (in File) readFormat(o Options) (t *Table, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(o.Formats) == 0 {
		return nil, in.noSheet(o)
	}
	r, closing, err := in.raw()
	if err != nil {
		return nil, err
	}
	defer closing()
	k := slices.IndexFunc(o.Formats, func(f Format) bool { return f.Is(r, r.Size()) })
	if k < 0 {
		return nil, in.noSheet(o)
	}
	f := o.Formats[k]
	defer func() {
		switch wrong := recover().(type) {
		case nil:
		case *textfile.Error:
			err = wrong
		case runtime.Error: // an index, in the words of a programmer
			err = in.damaged(f.Name, errors.New("its parts contradict each other"))
		case error:
			err = in.damaged(f.Name, wrong)
		default:
			err = in.damaged(f.Name, fmt.Errorf("%v", wrong))
		}
	}()
	if !f.Sheets {
		if err := in.noSheet(o); err != nil {
			return nil, err
		}
	}
	b := newBuilder(in.Name, o)
	f.Read(b, r, r.Size())
	return b.end(), nil
}

// Begins says that a file begins so.
func Begins(r io.ReaderAt, with string) bool {
	text := make([]byte, len(with))
	_, err := r.ReadAt(text, 0)
	return (err == nil || err == io.EOF) && string(text) == with
}

// noSheet refuses the name of a sheet for a file that has none.
func (in File) noSheet(o Options) error {
	if o.Sheet == "" {
		return nil
	}
	return &textfile.Error{File: in.Name, Reason: "is no workbook, so there is no sheet " + quote(o.Sheet)}
}

func (in File) damaged(what string, err error) error {
	return &textfile.Error{File: in.Name, Reason: "is " + what + " that is damaged: " + err.Error(), Err: err}
}
