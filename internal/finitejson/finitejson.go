// Package finitejson writes values as encoding/json does, with null in the place of numbers that are not finite, for
// which JSON has no words and encoding/json an error. Results keep what else they hold then.
package finitejson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Marshal returns v as JSON. Values with a MarshalJSON or MarshalText of their own are left to it. The names of an
// embedded struct's fields have to differ from the others; of tags, the name, "-" and omitempty count.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := write(&b, reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func write(b *bytes.Buffer, v reflect.Value) error {
	if !v.IsValid() {
		b.WriteString("null")
		return nil
	}
	switch t := v.Type(); {
	case t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && (t.Implements(marshaler) || t.Implements(textMarshaler)):
		return plain(b, v)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return plain(b, v)
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			b.WriteString("null")
			return nil
		}
	case reflect.Pointer, reflect.Interface:
		return write(b, v.Elem()) // invalid where it is nil
	case reflect.Slice, reflect.Array:
		return list(b, v)
	case reflect.Map:
		return table(b, v)
	case reflect.Struct:
		b.WriteByte('{')
		first := true
		if err := fields(b, v, &first); err != nil {
			return err
		}
		b.WriteByte('}')
		return nil
	}
	return plain(b, v)
}

// plain leaves a value to encoding/json.
func plain(b *bytes.Buffer, v reflect.Value) error {
	text, err := json.Marshal(v.Interface())
	b.Write(text)
	return err
}

func list(b *bytes.Buffer, v reflect.Value) error {
	if v.Kind() == reflect.Slice && v.IsNil() {
		b.WriteString("null")
		return nil
	}
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(b, v.Index(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// table writes a map of strings, its keys sorted; other maps are left to encoding/json.
func table(b *bytes.Buffer, v reflect.Value) error {
	if v.IsNil() || v.Type().Key().Kind() != reflect.String {
		return plain(b, v)
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	b.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := member(b, key.String(), v.MapIndex(key)); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// fields writes the members of a struct, those of embedded ones among them.
func fields(b *bytes.Buffer, v reflect.Value, first *bool) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer && v.Field(i).IsNil():
			continue
		case f.Anonymous && name == "" && reflect.Indirect(v.Field(i)).Kind() == reflect.Struct:
			if err := fields(b, reflect.Indirect(v.Field(i)), first); err != nil {
				return err
			}
			continue
		case !f.IsExported(), slices.Contains(strings.Split(options, ","), "omitempty") && empty(v.Field(i)):
			continue
		case name == "":
			name = f.Name
		}
		if !*first {
			b.WriteByte(',')
		}
		*first = false
		if err := member(b, name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func member(b *bytes.Buffer, name string, v reflect.Value) error {
	text, err := json.Marshal(name)
	if err != nil {
		return err
	}
	b.Write(text)
	b.WriteByte(':')
	return write(b, v)
}

// empty is what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
