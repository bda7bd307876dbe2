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
	var w writer
	w.write(reflect.ValueOf(v))
	if w.err != nil {
		return nil, w.err
	}
	return w.Bytes(), nil
}

// writer is a text of JSON, and the first error of encoding/json.
type writer struct {
	bytes.Buffer
	err error
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func (w *writer) write(v reflect.Value) {
	if !v.IsValid() {
		w.WriteString("null")
		return
	}
	switch t, kind := v.Type(), v.Kind(); {
	case kind == reflect.Pointer || kind == reflect.Interface:
		w.write(v.Elem()) // invalid where it is nil
	case t.Implements(marshaler), t.Implements(textMarshaler), kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		w.plain(v)
	case v.CanFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
		w.WriteString("null")
	case kind == reflect.Slice && !v.IsNil(), kind == reflect.Array:
		w.WriteByte('[')
		for i := range v.Len() {
			w.separate()
			w.write(v.Index(i))
		}
		w.WriteByte(']')
	case kind == reflect.Map && !v.IsNil() && t.Key().Kind() == reflect.String:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		w.WriteByte('{')
		for _, key := range keys {
			w.member(key.String(), v.MapIndex(key))
		}
		w.WriteByte('}')
	case kind == reflect.Struct:
		w.WriteByte('{')
		w.fields(v)
		w.WriteByte('}')
	default:
		w.plain(v)
	}
}

// plain leaves a value to encoding/json.
func (w *writer) plain(v reflect.Value) {
	text, err := json.Marshal(v.Interface())
	if w.Write(text); w.err == nil {
		w.err = err
	}
}

// separate writes the comma before an entry that is not the first one.
func (w *writer) separate() {
	if last := w.Bytes()[w.Len()-1]; last != '[' && last != '{' {
		w.WriteByte(',')
	}
}

func (w *writer) member(name string, v reflect.Value) {
	w.separate()
	w.plain(reflect.ValueOf(name))
	w.WriteByte(':')
	w.write(v)
}

// fields writes the members of a struct, those of embedded ones among them.
func (w *writer) fields(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Anonymous && name == ""
		switch inner := reflect.Indirect(v.Field(i)); {
		case f.Tag.Get("json") == "-", embedded && !inner.IsValid():
		case embedded && inner.Kind() == reflect.Struct:
			w.fields(inner)
		case !f.IsExported(), slices.Contains(strings.Split(options, ","), "omitempty") && empty(v.Field(i)):
		case name == "":
			w.member(f.Name, v.Field(i))
		default:
			w.member(name, v.Field(i))
		}
	}
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
