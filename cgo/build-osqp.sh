#!/bin/sh
# build-osqp.sh OUT
#
# Builds OSQP into OUT/lib/libconetune_osqp.a, one object in which only the
# functions of osqp.symbols are visible, so that its copies of QDLDL and AMD
# cannot meet those of other libraries. Headers go to OUT/include/osqp, licences
# to OUT/licenses.
#
#   DEPS_SRC   folder of the pinned sources, build/src beside this script if unset
#   OSQP_SRC   folder of OSQP's own sources, in place of the pinned ones
#   CC, CFLAGS compiler and its options, cc and none but CMake's -O3 if unset
set -eu
here=$(cd "$(dirname "$0")" && pwd)
die() {
    echo "cgo/build-osqp.sh: $*" >&2
    exit 1
}

mkdir -p "$1/lib" "$1/include" "$1/licenses" 2>/dev/null || die "cannot write to $1; in a folder that is read-only, as Go's module cache is, give another one: make deps DEPS=DIR"
out=$(cd "$1" && pwd)
# One build at a time in this folder.
if command -v flock >/dev/null; then
    exec 9>"$out/.lock-osqp"
    flock 9
fi
work=$(mktemp -d "$out/osqp.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

for tool in cmake make ar ld objcopy; do
    command -v $tool >/dev/null || die "needs $tool (cmake, make and GNU binutils)"
done

if [ -n "${OSQP_SRC:-}" ]; then
    [ -f "$OSQP_SRC/include/public/osqp.h" ] || die "OSQP_SRC=$OSQP_SRC holds no include/public/osqp.h"
    cp -R "$OSQP_SRC" "$work/osqp"
    chmod -R u+w "$work/osqp"
else
    sh "$here/fetch.sh" -d "$work" osqp-sys
fi
sh "$here/fetch.sh" -d "$work" qdldl
mv "$work/qdldl" "$work/package"
mv "$work/package/c/qdldl" "$work/qdldl"

# Interrupts without interrupt_*.o: it asks our osqp_is_interrupted, and handles
# no signals. Printing, code generation and derivatives are left out.
{
    cmake -S "$work/osqp" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_COMPILER="${CC:-cc}" -DCMAKE_C_FLAGS="${CFLAGS:-}" \
        -DOSQP_ALGEBRA_BACKEND=builtin -DOSQP_USE_LONG=OFF -DOSQP_USE_FLOAT=OFF \
        -DOSQP_BUILD_SHARED_LIB=OFF -DOSQP_BUILD_STATIC_LIB=ON -DOSQP_BUILD_DEMO_EXE=OFF \
        -DOSQP_ENABLE_INTERRUPT=ON -DOSQP_ENABLE_PRINTING=OFF -DOSQP_ENABLE_PROFILING=ON \
        -DOSQP_CODEGEN=OFF -DOSQP_ENABLE_DERIVATIVES=OFF \
        -DFETCHCONTENT_FULLY_DISCONNECTED=ON -DFETCHCONTENT_SOURCE_DIR_QDLDL="$work/qdldl" &&
        cmake --build "$work/build" --target osqpstatic
} >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    die "OSQP did not compile"
}
lib=$work/build/out/libosqpstatic.a
for object in $(ar t "$lib" | grep '^interrupt'); do
    ar d "$lib" "$object"
done
ld -r --whole-archive "$lib" -o "$work/all.o"
objcopy --keep-global-symbols="$here/osqp.symbols" "$work/all.o" "$work/conetune_osqp.o"
ar rcs "$work/libconetune_osqp.a" "$work/conetune_osqp.o"

mkdir "$work/include"
cp "$work"/osqp/include/public/*.h "$work"/build/include/public/*.h "$work/include/"
rm -rf "$out/include/osqp"
mv "$work/include" "$out/include/osqp"
cp "$work/osqp/LICENSE" "$out/licenses/OSQP.txt"
cp "$work/osqp/NOTICE" "$out/licenses/OSQP-NOTICE.txt"
cp "$work/qdldl/LICENSE" "$out/licenses/OSQP-qdldl.txt"
cp "$work/osqp/algebra/_common/lin_sys/qdldl/amd/LICENSE" "$out/licenses/OSQP-amd.txt"
mv -f "$work/libconetune_osqp.a" "$out/lib/"
# Go does not look at headers and libraries outside of a package: this file in the
# package, which nothing includes, makes it compile and link anew.
sum=$(cat "$out"/include/osqp/*.h "$out/lib/libconetune_osqp.a" | cksum)
case $out in
"$here/build") echo "/* make deps: $sum */" >"$here/../internal/cgo/osqp/built.h" ;;
"$here/build/asan") echo "/* make asan: $sum */" >"$here/../internal/cgo/osqp/built_asan.h" ;;
esac
echo "built $out/lib/libconetune_osqp.a"
