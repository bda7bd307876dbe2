package numerics

// Valleys are the members of a list whose values are less than that of the one before and not above that of the next.
func Valleys[T any](list []T, value func(T) float64) (valleys []T) {
	for i, at := range list {
		v := value(at)
		if (i == 0 || v < value(list[i-1])) && (i+1 == len(list) || v <= value(list[i+1])) {
			valleys = append(valleys, at)
		}
	}
	return valleys
}
