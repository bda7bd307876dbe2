//go:build !unix

package main

func prepareSystem() {}
