package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// checksumOf is the SHA-256 of all the other fields of a model as it stands in a file, whatever the blanks there, the
// order of the fields and the way numbers are written.
func checksumOf(m *Model) (string, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return "", err
	}
	delete(fields, "checksum")
	if text, err = canonical(text[:0], fields); err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// canonical appends the one text that all documents of this content have: no blanks, fields in the order of their
// names, numbers with the least digits that give them back.
func canonical(out []byte, v any) (_ []byte, err error) {
	switch v := v.(type) {
	case map[string]any:
		out = append(out, '{')
		for k, name := range slices.Sorted(maps.Keys(v)) {
			if k > 0 {
				out = append(out, ',')
			}
			if out, err = canonical(append(strconv.AppendQuote(out, name), ':'), v[name]); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = canonical(out, item); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case string:
		return strconv.AppendQuote(out, v), nil
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") { // an error of ParseInt takes memory
			if n, err := v.Int64(); err == nil && v != "-0" {
				return strconv.AppendInt(out, n, 10), nil
			}
		}
		x, err := v.Float64()
		return strconv.AppendFloat(out, x, 'f', -1, 64), err
	case nil:
		return append(out, "null"...), nil
	}
	return fmt.Append(out, v), nil
}
