#!/bin/sh
# build-highs.sh OUT
#
# Builds HiGHS and our C interface to it (highs/) into OUT/lib/libconetune_highs.a, one object
# in which only the functions of highs.symbols are visible. The header goes to
# OUT/include/highs, licences to OUT/licenses. Programs link libstdc++ as well.
#
#   DEPS_SRC     folder of the pinned sources, build/src beside this script if unset
#   CC, CXX, CFLAGS  compilers and their options, cc, c++ and none but those of highs/CMakeLists.txt if unset
set -eu
here=$(cd "$(dirname "$0")" && pwd)
die() {
    echo "cgo/build-highs.sh: $*" >&2
    exit 1
}

mkdir -p "$1/lib" "$1/include" "$1/licenses" 2>/dev/null || die "cannot write to $1; in a folder that is read-only, as Go's module cache is, give another one: make deps DEPS=DIR"
out=$(cd "$1" && pwd)
# One build at a time in this folder.
if command -v flock >/dev/null; then
    exec 9>"$out/.lock-highs"
    flock 9
fi
work=$(mktemp -d "$out/highs.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

for tool in cmake make ar ld nm objcopy; do
    command -v $tool >/dev/null || die "needs $tool (cmake, make and GNU binutils)"
done
[ -f "$out/lib/libconetune_blas.so" ] || die "$out has no BLAS yet: build-scs.sh comes first"
sh "$here/fetch.sh" -d "$work" highs-sys

# C throws, too, where its memory ends.
{
    cmake -S "$here/highs" -B "$work/build" -DHIGHS="$work/HiGHS" -DCMAKE_C_COMPILER="${CC:-cc}" -DCMAKE_CXX_COMPILER="${CXX:-c++}" \
        -DCMAKE_C_FLAGS="${CFLAGS:-} -fexceptions" -DCMAKE_CXX_FLAGS="${CFLAGS:-} -fno-gnu-unique" &&
        cmake --build "$work/build" --parallel 2
} >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    die "HiGHS did not compile"
}
sh "$here/link-highs.sh" "$here" "$work/build/libhighs.a" "$out" "$work"

mkdir "$work/include"
cp "$here/highs/conetune_highs.h" "$work/include/"
rm -rf "$out/include/highs"
mv "$work/include" "$out/include/highs"
cp "$work/HiGHS/LICENSE.txt" "$out/licenses/HiGHS.txt"
cp "$work/HiGHS/THIRD_PARTY_NOTICES.md" "$out/licenses/HiGHS-parts.txt"
cp "$work/HiGHS/extern/pdqsort/license.txt" "$out/licenses/HiGHS-pdqsort.txt"
cp "$work/HiGHS/extern/metis/LICENSE.txt" "$out/licenses/HiGHS-metis.txt"
cp "$work/HiGHS/extern/amd/License.txt" "$out/licenses/HiGHS-amd.txt"
cp "$work/HiGHS/extern/rcm/LICENSE" "$out/licenses/HiGHS-rcm.txt"
mv -f "$work/libconetune_highs.a" "$out/lib/"
# Go does not look at headers and libraries outside of a package: this file in the
# package, which nothing includes, makes it compile and link anew.
sum=$(cat "$out"/include/highs/*.h "$out/lib/libconetune_highs.a" | cksum)
case $out in
"$here/build") echo "/* make deps: $sum */" >"$here/../internal/cgo/highs/built.h" ;;
"$here/build/asan") echo "/* make asan: $sum */" >"$here/../internal/cgo/highs/built_asan.h" ;;
esac
echo "built $out/lib/libconetune_highs.a"
