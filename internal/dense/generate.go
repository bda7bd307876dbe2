package dense

//go:generate go run -C gen . -isa avx2 -pkg dense -out ../kernels_avx2_amd64.s -stubs ../kernels_avx2_amd64.go
//go:generate go run -C gen . -isa avx512 -pkg dense -out ../kernels_avx512_amd64.s -stubs ../kernels_avx512_amd64.go
