package input

import (
	"io"
	"os"

	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/arrow"
	"github.com/conetune/conetune/table/internal/parquet"
	"github.com/conetune/conetune/table/internal/xlsx"
)

// nameOfStream is standard input in messages.
const nameOfStream = "standard input"

// Input reads files of data. What can be read once only, standard input, a pipe or a device, is kept for all who ask.
type Input struct {
	// Stdin is what the file [Stream] is read from.
	Stdin io.Reader

	streams map[string]*stream // by their paths
}

// stream is the stream of a path, nil for a file, which can be read again.
func (in *Input) stream(path string) *stream {
	if s := in.streams[path]; s != nil {
		return s
	}
	name, from := path, in.Stdin
	if path == Stream && from != nil {
		name = nameOfStream
	} else {
		if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil // and who reads it says why
		}
		defer f.Close()
		from = f
	}
	if in.streams == nil {
		in.streams = map[string]*stream{}
	}
	s := readStream(name, from)
	in.streams[path] = s
	return s
}

// Close gives back what was put aside.
func (in *Input) Close() {
	for _, s := range in.streams {
		s.close()
	}
}

// formats are those of tables that are not text.
func formats() []table.Format {
	return []table.Format{xlsx.Format(), parquet.Format(), arrow.Format()}
}

// file is that of a path, or what was kept of a stream.
func (in *Input) file(path string) (table.File, error) {
	s := in.stream(path)
	if s == nil {
		return table.File{Name: path}, nil
	}
	return table.File{Name: s.name, Bytes: s.text}, s.err
}

// Table reads a table of columns.
func (in *Input) Table(path string, o table.Options) (*table.Table, error) {
	o.Formats = formats()
	f, err := in.file(path)
	if err != nil {
		return nil, err
	}
	return f.Read(o)
}

// Parts reads a table of columns a part after another, see [table.File.ReadParts].
func (in *Input) Parts(path string, o table.Options, begin func(), hand func(*table.Table) error,
) ([]table.Finding, error) {
	o.Formats = formats()
	f, err := in.file(path)
	if err != nil {
		return nil, err
	}
	return f.ReadParts(o, begin, hand)
}

// source opens a file in the format of LIBSVM.
func (in *Input) source(path string) (*textfile.Source, error) {
	f, err := in.file(path)
	if err != nil {
		return nil, err
	}
	return f.Text()
}

// IsLIBSVM says whether a file is in that format; one that cannot be read is not, and its reader says why.
func (in *Input) IsLIBSVM(path string) bool {
	s, err := in.source(path)
	if err != nil {
		return false
	}
	defer s.Close()
	return libsvm.Is(s)
}
