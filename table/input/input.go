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

// Table reads a table of columns.
func (in *Input) Table(path string, o table.Options) (*table.Table, error) {
	o.Formats = formats()
	if s := in.stream(path); s != nil && s.err != nil {
		return nil, s.err
	} else if s != nil {
		return table.ReadAt(s.name, s.text, s.text.Size(), o)
	}
	return table.Read(path, o)
}

// Parts reads a table of columns a part after another, see [table.ReadParts].
func (in *Input) Parts(path string, o table.Options, begin func(), hand func(*table.Table) error,
) ([]table.Finding, error) {
	o.Formats = formats()
	if s := in.stream(path); s != nil && s.err != nil {
		return nil, s.err
	} else if s != nil {
		return table.ReadPartsAt(s.name, s.text, s.text.Size(), o, begin, hand)
	}
	return table.ReadParts(path, o, begin, hand)
}

// source opens a file in the format of LIBSVM.
func (in *Input) source(path string) (*textfile.Source, error) {
	if s := in.stream(path); s != nil && s.err != nil {
		return nil, s.err
	} else if s != nil {
		return textfile.NewSource(s.name, io.NewSectionReader(s.text, 0, s.text.Size()))
	}
	return textfile.Open(path)
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
