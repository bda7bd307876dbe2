//go:build !unix

package process

func prepareSystem() {}
