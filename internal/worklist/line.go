package worklist

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/conetune/conetune/internal/finitejson"
)

// checksumEnd is how a line with a checksum ends: its last field is the SHA-256 of the line without it.
var checksumEnd = regexp.MustCompile(`,"checksum":"sha256:([0-9a-f]{64})"\}$`)

// Encode is a record as a line of results.jsonl. Numbers that are not finite are null there.
func (k *Kind[I, R, P]) Encode(r *R) ([]byte, error) {
	text, err := finitejson.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", k.Head(r).Item, err)
	}
	sum := sha256.Sum256(text)
	return fmt.Appendf(text[:len(text)-1], ",\"checksum\":\"sha256:%x\"}\n", sum), nil
}

// Decode reads the lines of a results file, whose name is for messages. Lines of early versions have no checksum.
func (k *Kind[I, R, P]) Decode(path string, text []byte) ([]R, error) {
	var records []R
	for n := 1; len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		damaged := func(format string, args ...any) error {
			return &DamageError{fmt.Sprintf("%s, line %d", path, n), fmt.Sprintf(format, args...)}
		}
		const remedy = "delete the line, and --resume does its work again"
		var r R
		var sum struct {
			Checksum *string `json:"checksum"`
		}
		err := json.Unmarshal(line, &r)
		if err == nil {
			err = json.Unmarshal(line, &sum)
		}
		if err != nil {
			return nil, damaged("not a record of results: %v: %s", err, remedy)
		}
		if sum.Checksum != nil && !intact(line) {
			return nil, damaged("the checksum does not match, the line was changed or damaged: %s", remedy)
		}
		if schema := k.Head(&r).Schema; schema != k.Schema {
			return nil, damaged("schema %d, expected %d: it was written by another version of the program", schema, k.Schema)
		}
		records = append(records, r)
	}
	return records, nil
}

// intact says whether a line has the checksum of the rest.
func intact(line []byte) bool {
	at := checksumEnd.FindSubmatchIndex(line)
	if at == nil {
		return false
	}
	sum := sha256.Sum256(append(bytes.Clone(line[:at[0]]), '}'))
	return hex.EncodeToString(sum[:]) == string(line[at[2]:at[3]])
}
