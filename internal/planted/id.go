package planted

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ID names a case, and is all that it takes to make it again.
type ID struct {
	Mode  string // what was done with the case: a name of [Modes]
	Scale int    // the power of ten of the scaling
	Mix   Mix
	Seed  uint64
}

// String returns the ID as it is given to the command, for example verdict:6:all:17.
func (id ID) String() string { return fmt.Sprintf("%s:%d:%s:%d", id.Mode, id.Scale, id.Mix, id.Seed) }

// MarshalText has the ID as text in JSON.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// ParseID reads what String writes.
func ParseID(text string) (ID, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 4 {
		return ID{}, fmt.Errorf("planted: %q is not MODE:SCALE:MIX:SEED", text)
	}
	scale, err := strconv.Atoi(parts[1])
	if err != nil || scale < 0 || scale > 30 {
		return ID{}, fmt.Errorf("planted: scale %q is not a number from 0 to 30", parts[1])
	}
	seed, err := strconv.ParseUint(parts[3], 10, 64)
	if err != nil {
		return ID{}, fmt.Errorf("planted: seed %q is not a number", parts[3])
	}
	id := ID{Mode: parts[0], Scale: scale, Mix: Mix(parts[2]), Seed: seed}
	if !slices.Contains(Modes(), id.Mode) {
		return ID{}, fmt.Errorf("planted: unknown mode %q, known are %v", id.Mode, Modes())
	}
	if !slices.Contains(Mixes(), id.Mix) {
		return ID{}, fmt.Errorf("planted: unknown mix %q, known are %v", parts[2], Mixes())
	}
	return id, nil
}
