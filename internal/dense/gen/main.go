// Command gen writes the assembly kernels of package dense. It is a module of its
// own, so that avo is no dependency of the library. Run it by `go generate` in
// the package's folder.
package main

import (
	"flag"
	"log"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	name := flag.String("isa", "avx2", "instruction set: avx2 or avx512")
	flag.Parse()
	var s isa
	switch *name {
	case "avx2":
		s = avx2()
	case "avx512":
		s = avx512()
	default:
		log.Fatalf("unknown instruction set %q: use avx2 or avx512", *name)
	}
	ConstraintExpr("!noasm")
	strip(s, gemm)
	strip(s, trsm)
	gemvN(s)
	gemvT(s)
	Generate()
}
