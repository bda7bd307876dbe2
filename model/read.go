package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"
)

// expected is what is said to be missing where a file is something else.
const expected = "expected a model that conetune saved"

// mostBytes bounds the size of a file: a model of 20 million coefficients.
const mostBytes = 1 << 29

// Read reads a model from a file, see [Decode].
func Read(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer f.Close()
	return ReadFrom(f, path)
}

// ReadFrom reads a model from a stream that has a name in messages, see [Decode].
func ReadFrom(r io.Reader, name string) (*Model, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, openError(name, err)
	}
	if len(text) > mostBytes {
		return nil, fmt.Errorf("%s: larger than %d MB, %s", name, mostBytes>>20, expected)
	}
	return Decode(text, name)
}

// Decode reads a model from the bytes of a file of that name. It takes what [Model.Write] writes and nothing else:
// there must be no other fields, and the checksum must be that of the content, so that a field that is missing, or is
// there twice with another value, is found. The model must be one of [Names], with what such a model has. Errors name
// the file, and its line and field where these are known.
func Decode(text []byte, name string) (*Model, error) {
	m, offset, err := decode(text)
	switch {
	case err == nil:
		return m, nil
	case offset > 0:
		line := 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// decode is Decode with the place of an error in the text, 0 where it has none.
func decode(text []byte) (m *Model, offset int64, err error) {
	switch {
	case len(text) == 0:
		return nil, 0, fmt.Errorf("the file is empty, %s", expected)
	case !utf8.Valid(text):
		return nil, 0, fmt.Errorf("the file is not text in UTF-8, %s", expected)
	}
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil && head.Format != Format {
		return jsonError(err)
	} else if head.Format != Format {
		return nil, 0, fmt.Errorf("not a model that conetune saved: its format is %q, expected %q", head.Format, Format)
	} else if err != nil {
		return jsonError(err)
	} else if head.Version != version {
		return nil, 0, fmt.Errorf("version %d of the format, this program reads %d", head.Version, version)
	}
	m = new(Model)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(m); err != nil {
		return jsonError(err)
	}
	sum, err := m.checksum()
	if err == nil && sum != m.Checksum {
		err = errors.New("the checksum does not match: the file was changed after it was saved")
	}
	if err != nil {
		return nil, 0, err
	}
	if err := m.spread(); err != nil {
		return nil, 0, err
	}
	return m, 0, m.validate()
}

// checksum is the SHA-256 of the model as JSON without blanks and with an empty checksum: the same for every layout of
// a file, and every way to write its numbers.
func (m Model) checksum() (string, error) {
	m.Checksum = ""
	text, err := json.Marshal(m)
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text)), err
}

// jsonError is an error of encoding/json as one of a file, with its place.
func jsonError(err error) (*Model, int64, error) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return nil, syntax.Offset, fmt.Errorf("%w, %s", err, expected)
	case errors.As(err, &kind) && kind.Field == "":
		return nil, kind.Offset, fmt.Errorf("the file holds a JSON %s, %s", kind.Value, expected)
	case errors.As(err, &kind):
		return nil, kind.Offset, fmt.Errorf("field %q holds a JSON %s, expected a value of type %s", kind.Field, kind.Value,
			kind.Type)
	}
	return nil, 0, fmt.Errorf("%w, %s", err, expected)
}

func openError(path string, err error) error {
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return fmt.Errorf("%s: is a directory, %s", path, expected)
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return fmt.Errorf("%s: cannot be read: %w", path, err)
}
