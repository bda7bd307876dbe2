#!/bin/sh
# build-scs.sh OUT
#
# Builds SCS into OUT/lib/libconetune_scs.a, one object in which only the
# functions of scs.symbols are visible, so that its copies of QDLDL and AMD
# cannot meet those of other libraries. Headers go to OUT/include/scs, licences
# to OUT/licenses, and the BLAS behind OUT/lib/libconetune_blas.so.
#
#   DEPS_SRC   folder of the pinned sources, build/src beside this script if unset
#   SCS_SRC    folder of SCS's own sources, in place of the pinned ones
#   BLAS_PKG   pkg-config name of a BLAS and LAPACK with 32-bit integers and
#              plain names (dgemm_), in place of the pinned OpenBLAS
#   CC, CFLAGS compiler and its options, cc and -O3 if unset
set -eu
here=$(cd "$(dirname "$0")" && pwd)
die() {
    echo "cgo/build-scs.sh: $*" >&2
    exit 1
}

mkdir -p "$1/lib" "$1/include" "$1/licenses" 2>/dev/null || die "cannot write to $1; in a folder that is read-only, as Go's module cache is, give another one: make deps DEPS=DIR"
out=$(cd "$1" && pwd)
# One build at a time in this folder.
if command -v flock >/dev/null; then
    exec 9>"$out/.lock-scs"
    flock 9
fi
work=$(mktemp -d "$out/scs.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

for tool in make ar ld nm objcopy; do
    command -v $tool >/dev/null || die "needs $tool (GNU binutils and make)"
done

if [ -n "${SCS_SRC:-}" ]; then
    [ -f "$SCS_SRC/include/scs.h" ] || die "SCS_SRC=$SCS_SRC holds no include/scs.h"
    cp -R "$SCS_SRC" "$work/scs"
    chmod -R u+w "$work/scs"
    find "$work/scs" -name '*.o' -delete
    rm -rf "$work/scs/out"
else
    sh "$here/fetch.sh" -d "$work" scs
    mv "$work/scs" "$work/package"
    mv "$work/package/scs_source" "$work/scs"
fi

# The BLAS: a linker script, so that Go's flags are the same for all of them.
if [ -n "${BLAS_PKG:-}" ]; then
    libs=$(pkg-config --libs-only-l "$BLAS_PKG") || die "pkg-config knows no $BLAS_PKG"
    dirs=$(pkg-config --libs-only-L "$BLAS_PKG" | sed 's/-L\([^ ]*\)/SEARCH_DIR(\1)/g')
    echo "$dirs INPUT($libs)" >"$work/blas"
    : >"$work/blas.map"
else
    sh "$here/fetch.sh" -d "$work" openblas
    cp "$work/openblas/scipy_openblas32/lib/libscipy_openblas.so" "$work/"
    echo "INPUT(-lscipy_openblas)" >"$work/blas"
    nm -D --defined-only "$work/libscipy_openblas.so" | sed -n 's/.* scipy_\([a-z0-9_]*\)$/\1/p' | sort >"$work/blas.names"
fi

# The nuclear norm cone, of versions that have it.
spectral=0
if grep -q nucsize "$work/scs/include/scs.h"; then spectral=1; fi

# Our function for new matrices, among those of the linear solver, for versions that equilibrate as it expects.
direct=$work/scs/linsys/cpu/direct
cp "$here/own/scs_set_numbers.c" "$direct/"
other=1
if grep -q 'const scs_float \*b,' "$work/scs/linsys/scs_matrix.h"; then other=0; fi
if [ $other = 1 ]; then echo '#define CONETUNE_OTHER_SCS' >>"$direct/private.c"; fi
echo '#include "scs_set_numbers.c"' >>"$direct/private.c"

# NO_PRINTING and NO_READ_WRITE: a library writes to no stream and to no file; the
# printf that the spectral cones call all the same is renamed below, and asserts
# are left out. CTRLC without ctrlc.o: it asks our scs_is_interrupted, and handles
# no signals.
make -C "$work/scs" -s out/libscsdir.a CC="${CC:-cc}" OPT="${CFLAGS:--O3} -fno-math-errno -fno-builtin-printf -DNDEBUG" \
    CTRLC=1 DLONG=0 SFLOAT=0 USE_LAPACK=1 USE_SPECTRAL_CONES=$spectral NO_PRINTING=1 NO_READ_WRITE=1 >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    die "SCS did not compile"
}
ar d "$work/scs/out/libscsdir.a" ctrlc.o

# --wrap: SCS looks for an interruption every 25 iterations only; through the
# linear solve, which fails on demand, we are asked in each one.
ld -r --wrap=scs_solve_lin_sys --whole-archive "$work/scs/out/libscsdir.a" -o "$work/all.o"
if [ -f "$work/blas.names" ]; then
    nm --undefined-only "$work/all.o" | awk '{print $2}' | sort | comm -12 - "$work/blas.names" |
        sed 's/\(.*\)/\1 scipy_\1/' >"$work/blas.map"
fi
echo "printf conetune_scs_printf" >>"$work/blas.map"
objcopy --redefine-syms="$work/blas.map" --keep-global-symbols="$here/scs.symbols" "$work/all.o" "$work/conetune_scs.o"
ar rcs "$work/libconetune_scs.a" "$work/conetune_scs.o"

mkdir "$work/include"
cp "$work"/scs/include/*.h "$work/include/"
{
    echo "/* How cgo/build-scs.sh built the library; scs.h asks for it. */"
    if [ $spectral = 1 ]; then echo "#define USE_SPECTRAL_CONES 1"; fi
    if [ $other = 1 ]; then echo "#define CONETUNE_OTHER_SCS 1"; fi
} >"$work/include/conetune_scs_config.h"
rm -rf "$out/include/scs"
mv "$work/include" "$out/include/scs"
cp "$work/scs/LICENSE.txt" "$out/licenses/SCS.txt"
for part in amd qdldl; do
    cp "$work"/scs/linsys/external/$part/LICENSE* "$out/licenses/SCS-$part.txt"
done
if [ -d "$work/openblas" ]; then
    cp "$work"/openblas/scipy_openblas32-*/licenses/LICENSE.txt "$out/licenses/OpenBLAS.txt"
    mv -f "$work/libscipy_openblas.so" "$out/lib/"
else
    rm -f "$out/licenses/OpenBLAS.txt" "$out/lib/libscipy_openblas.so"
fi
mv -f "$work/blas" "$out/lib/libconetune_blas.so"
mv -f "$work/libconetune_scs.a" "$out/lib/"
# Go does not look at headers and libraries outside of a package: this file in the
# package, which nothing includes, makes it compile and link anew.
sum=$(cat "$out"/include/scs/*.h "$out/lib/libconetune_scs.a" | cksum)
case $out in
"$here/build") echo "/* make deps: $sum */" >"$here/../internal/cgo/scs/built.h" ;;
"$here/build/asan") echo "/* make asan: $sum */" >"$here/../internal/cgo/scs/built_asan.h" ;;
esac
echo "built $out/lib/libconetune_scs.a"
