//go:build scs_go && (386 || arm || mips || mipsle)

package scs

// The transpiled code is for pointers of 64 bits: leave the tag scs_go out on this system.
const _ = TranspiledCodeNeeds64Bits
