#!/bin/sh
# link-highs.sh HERE LIBRARY OUT WORK
#
# Makes WORK/libconetune_highs.a of the static library that highs/CMakeLists.txt builds; for
# build-highs.sh. HERE is this folder, in OUT/lib is the BLAS.
set -eu
die() {
    echo "cgo/link-highs.sh: $*" >&2
    exit 1
}
here=$1 library=$2 out=$3 work=$4

# HiGHS reads our clock, which a solve that is to stop finds far ahead; prints nothing; and does not end the program.
cat >"$work/names" <<'END'
_ZNSt6chrono3_V212system_clock3nowEv conetune_highs_now
printf conetune_highs_printf
puts conetune_highs_puts
putchar conetune_highs_putchar
abort conetune_highs_abort
END
# Only what the interface needs is taken.
symbols=$(sed 's/^/-u /' "$here/highs.symbols" | tr '\n' ' ')
# shellcheck disable=SC2086
ld -r $symbols "$library" -o "$work/all.o"
nm --undefined-only "$work/all.o" | awk '$1 == "U" {print $2}' | LC_ALL=C sort -u >"$work/wanted"
# What is left of the parts that are not compiled: functions, all called only for integers, files or PDLP. They throw. Data and
# tables of virtual functions cannot be left out.
foreign='[0-9]*\(__gnu_cxx\|__cxxabiv1\)'
grep '^_Z\(N[A-Z]*\)\{0,1\}[0-9]' "$work/wanted" | grep -v "^_ZN[A-Z]*$foreign" >"$work/absent" || true
odd=$(grep '^_Z\(T[A-Z]\|GV\)N\{0,1\}[0-9]' "$work/wanted" | grep -v "^_ZT[VIS]N$foreign" || true)
[ -z "$odd" ] || die "missing from HiGHS, and no function:
$odd"
sed 's/\(.*\)/--defsym=\1=conetune_highs_absent/' "$work/absent" >"$work/defined"
if [ -f "$out/lib/libscipy_openblas.so" ]; then
    nm -D --defined-only "$out/lib/libscipy_openblas.so" | sed -n 's/.* scipy_\([a-z0-9_]*\)$/\1/p' | LC_ALL=C sort >"$work/blas.names"
    LC_ALL=C comm -12 "$work/wanted" "$work/blas.names" | sed 's/\(.*\)/\1 scipy_\1/' >>"$work/names"
fi
objcopy --strip-debug --redefine-syms="$work/names" "$work/all.o" "$work/named.o"
ld -r "$work/named.o" "@$work/defined" -o "$work/one.o"
objcopy --keep-global-symbols="$here/highs.symbols" "$work/one.o" "$work/conetune_highs.o"
ar rcs "$work/libconetune_highs.a" "$work/conetune_highs.o"
