package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// checksumField is the field with the checksum, the only one that the checksum is not about.
const checksumField = "checksum"

// checksum is the SHA-256 of the content of a document, whatever its blanks, the order of its fields and the way its
// numbers are written.
func (v *value) checksum() (string, error) {
	rest := *v
	if i := slices.Index(v.names, checksumField); i >= 0 {
		rest.names = slices.Delete(slices.Clone(v.names), i, i+1)
		rest.items = slices.Delete(slices.Clone(v.items), i, i+1)
	}
	text, err := rest.canonical(nil)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// checksumOf is the checksum of a model as it will be written.
func checksumOf(m *Model) (string, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	v, err := parseValid(text)
	if err != nil {
		return "", err
	}
	return v.checksum()
}
