//go:build race

package ldl

const raceDetector = true
