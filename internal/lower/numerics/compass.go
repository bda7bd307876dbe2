package numerics

// Compass looks for a minimum along axes, up and down, in steps that are halved from the first to above the last where
// none leads down. along takes a step along an axis, and more as long as they lead down, and says whether any did;
// over, asked where no step of a size does, says whether to end there.
func Compass(first, last float64, axes int, along func(axis int, step float64) (gained bool, err error),
	over func(step float64) bool) error {
	for step := first; step > last; step /= 2 {
		for moved := true; moved; {
			moved = false
			for axis := range axes {
				for _, way := range []float64{step, -step} {
					gained, err := along(axis, way)
					if err != nil {
						return err
					}
					if gained {
						moved = true
						break
					}
				}
			}
		}
		if over(step) {
			return nil
		}
	}
	return nil
}
