//go:build osqp_go && (386 || arm || mips || mipsle)

package osqp

// The transpiled code is for pointers of 64 bits: leave the tag osqp_go out on this system.
const _ = TranspiledCodeNeeds64Bits
