package model

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
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

// Decode reads a model from the bytes of a file of that name. It takes what [Model.Write] writes, in this version or an
// earlier one, and nothing else: every field must be there, once, with a value of its kind, there must be no other
// fields, and from version 2 on the checksum must be that of the content. The model must be one of [Names],
// with what such a model has.
// Errors name file, line and field.
func Decode(text []byte, name string) (*Model, error) {
	m, err := decode(text)
	if err == nil {
		return m, nil
	}
	where := name
	var line *lineError
	if errors.As(err, &line) {
		where = fmt.Sprintf("%s:%d", name, line.line)
	}
	return nil, fmt.Errorf("%s: %w", where, err)
}

func decode(text []byte) (*Model, error) {
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("the file is empty, %s", expected)
	case !utf8.Valid(text):
		return nil, fmt.Errorf("the file is not text in UTF-8, %s", expected)
	}
	doc, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w, %s", err, expected)
	}
	version, err := doc.version()
	if err != nil {
		return nil, err
	}
	m := new(Model)
	if err := (&filler{version: version, matrix: doc.field("matrix") != nil, compact: version >= versionCompact && doc.field("compact") != nil}).fill(doc, reflect.ValueOf(m).Elem(), ""); err != nil {
		return nil, err
	}
	if version >= 2 {
		sum, err := doc.checksum()
		if err != nil {
			return nil, err
		}
		if sum != m.Checksum {
			return nil, lineErrorf(doc.field(checksumField).line, "the checksum does not match: the file was changed after it was saved")
		}
	}
	spec, err := Find(m.Model)
	if err != nil {
		return nil, &lineError{doc.field("model").line, err}
	}
	if err := m.spread(); err != nil {
		return nil, err
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	return m, m.suit(spec)
}

// suit rejects a model without what such a model has, and gives a classifier its loss, which files did not have once;
// those of huber and quantile need a number.
func (m *Model) suit(s Spec) error {
	for _, part := range []struct {
		name        string
		has, should bool
	}{
		{"labels", m.Labels != nil, s.Labels}, {"log_link", m.LogLink, s.LogLink},
		{"targets", m.Targets != nil, s.Several || s.Classes}, {"matrix", m.Matrix != nil, s.Matrix},
		{"loss", m.Loss != nil, m.Loss != nil || s.Survival},
	} {
		switch {
		case part.should && !part.has:
			return fmt.Errorf("field %q is missing: the model is %s", part.name, m.Model)
		case part.has && !part.should:
			return fmt.Errorf("field %q does not belong to a model of %s", part.name, m.Model)
		}
	}
	switch {
	case m.Loss == nil && m.Labels != nil:
		m.Loss = &Loss{Kind: s.Loss}
	case m.Loss != nil && m.Loss.Kind != s.Loss:
		return fmt.Errorf("field \"loss\": %q does not belong to a model of %s", m.Loss.Kind, m.Model)
	}
	return nil
}

// version looks at format and version alone, so that a file of a later version is told as such.
func (v *value) version() (int, error) {
	if v.kind != anObject {
		return 0, lineErrorf(v.line, "the file holds a JSON %s, %s", v.kind, expected)
	}
	format := ""
	if f := v.field("format"); f != nil && f.kind == aString {
		format = f.text
	}
	if format != Format {
		return 0, fmt.Errorf("not a model that conetune saved: its format is %q, expected %q", format, Format)
	}
	f := v.field("version")
	if f == nil {
		return 0, lineErrorf(v.line, "field \"version\" is missing")
	}
	n, err := strconv.Atoi(f.text)
	if err != nil || f.kind != aNumber || n < 1 || n > Version {
		found := f.text
		if f.kind != aNumber {
			found = "a JSON " + string(f.kind)
		}
		return 0, lineErrorf(f.line, "version %s of the format, this program reads 1 to %d", found, Version)
	}
	return n, nil
}

// filler puts a document into a struct whose json tags say what must be there: each field that has no omitempty.
type filler struct {
	version int
	matrix  bool // the model is that of a matrix
	compact bool // features and coefficients are compact
}

// fill sets one value; where names it in messages, and is empty for the file.
func (f *filler) fill(v *value, to reflect.Value, where string) error {
	switch to.Kind() {
	case reflect.Struct:
		if err := v.expect(anObject, where); err != nil {
			return err
		}
		return f.object(v, to, where)
	case reflect.Pointer:
		if v.kind == aNull && to.Type().Elem().Kind() == reflect.Float64 {
			return nil
		}
		to.Set(reflect.New(to.Type().Elem()))
		return f.fill(v, to.Elem(), where)
	case reflect.Map:
		if err := v.expect(anObject, where); err != nil {
			return err
		}
		to.Set(reflect.MakeMapWithSize(to.Type(), len(v.items)))
		for i, name := range v.names {
			item := reflect.New(to.Type().Elem()).Elem()
			if err := f.fill(v.items[i], item, within(where, name)); err != nil {
				return err
			}
			to.SetMapIndex(reflect.ValueOf(name), item)
		}
	case reflect.Slice:
		if v.kind == aNull && f.nullable(where) {
			return nil
		}
		if err := v.expect(anArray, where); err != nil {
			return err
		}
		to.Set(reflect.MakeSlice(to.Type(), len(v.items), len(v.items)))
		for i, item := range v.items {
			if err := f.fill(item, to.Index(i), fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	case reflect.String:
		if err := v.expect(aString, where); err != nil {
			return err
		}
		to.SetString(v.text)
	case reflect.Bool:
		if err := v.expect(aBool, where); err != nil {
			return err
		}
		to.SetBool(v.text == "true")
	default:
		return v.number(to, where)
	}
	return nil
}

// nullable says whether an array may be null: version 1 wrote so the features of a matrix that has none.
func (f *filler) nullable(where string) bool {
	return f.version == 1 && f.matrix && (where == "features" || where == "coefficients")
}

// object sets the fields of a struct.
func (f *filler) object(v *value, to reflect.Value, where string) error {
	var names []string
	for i := range to.NumField() {
		name, options, _ := strings.Cut(to.Type().Field(i).Tag.Get("json"), ",")
		if name == checksumField && f.version < 2 || name == "compact" && f.version < versionCompact {
			continue
		}
		if where == "" && f.compact && (name == "features" || name == "coefficients") {
			continue
		}
		names = append(names, name)
		item := v.field(name)
		switch {
		case item != nil:
			if err := f.fill(item, to.Field(i), within(where, name)); err != nil {
				return err
			}
			if options == "omitempty" && item.kind == anArray && len(item.items) == 0 {
				return lineErrorf(item.line, "field %q is an empty list, expected values or no such field", within(where, name))
			}
		case options != "omitempty":
			return lineErrorf(v.line, "field %q is missing", within(where, name))
		}
	}
	for i, name := range v.names {
		if !slices.Contains(names, name) {
			return lineErrorf(v.items[i].line, "unknown field %q; known are: %s", within(where, name), strings.Join(names, ", "))
		}
	}
	return nil
}

// number sets a number, which must be in the range of its kind.
func (v *value) number(to reflect.Value, where string) error {
	if err := v.expect(aNumber, where); err != nil {
		return err
	}
	if to.Kind() == reflect.Float64 {
		x, err := v.float()
		if err != nil {
			return lineErrorf(v.line, "field %q: %w", where, err)
		}
		to.SetFloat(x)
		return nil
	}
	n, err := strconv.ParseInt(v.text, 10, to.Type().Bits())
	if err != nil || n < 0 {
		return lineErrorf(v.line, "field %q is %s, expected a whole number that is not negative", where, v.text)
	}
	to.SetInt(n)
	return nil
}

// expect says what is wrong with a value that is not of a kind.
func (v *value) expect(k kind, where string) error {
	if v.kind == k {
		return nil
	}
	return lineErrorf(v.line, "field %q holds a JSON %s, expected a JSON %s", where, v.kind, k)
}

func within(where, name string) string {
	if where == "" {
		return name
	}
	return where + "." + name
}

func openError(path string, err error) error {
	var cause *fs.PathError
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return fmt.Errorf("%s: is a directory, %s", path, expected)
	}
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("%s: cannot be read: %w", path, err)
}
