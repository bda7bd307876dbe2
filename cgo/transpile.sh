#!/bin/sh
# transpile.sh scs|osqp OUT
#
# Writes the C library SCS or OSQP as Go into the file OUT, which is internal/ccgo/NAME/lib/generated.go where
# Go is to find it. It needs Go, and what fetch.sh needs; no C compiler. The sources are those of fetch.sh, built
# with the same options as the C libraries; the outcome is for systems with pointers of 64 bits, and the same
# whatever machine makes it.
#
#   DEPS_SRC            folder of the pinned sources, build/src beside this script if unset
#   SCS_SRC, OSQP_SRC   folders of own sources, in place of the pinned ones
#   CCGO                version of the transpiler modernc.org/ccgo/v4
#   GO                  the go command
set -eu
here=$(cd "$(dirname "$0")" && pwd)
die() {
    echo "cgo/transpile.sh: $*" >&2
    exit 1
}

name=$1
module=github.com/conetune/conetune
mkdir -p "$(dirname "$2")" 2>/dev/null && [ -w "$(dirname "$2")" ] || die "cannot write to $(dirname "$2")"
out=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
GO=${GO:-go}
CCGO=${CCGO:-v4.34.0}
work=$(mktemp -d "${out%/*}/.transpile.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# own VARIABLE HEADER: copies own sources to $work/NAME.
own() {
    eval "dir=\${$1}"
    [ -f "$dir/$2" ] || die "$1=$dir holds no $2"
    cp -R "$dir" "$work/$name"
}

case $name in
scs)
    if [ -n "${SCS_SRC:-}" ]; then
        own SCS_SRC include/scs.h
    else
        sh "$here/fetch.sh" -d "$work" scs
        mv "$work/scs" "$work/package"
        mv "$work/package/scs_source" "$work/scs"
    fi
    top=$work/scs
    cp "$here/transpile/conetune_scs.c" "$here/transpile/conetune_private.c" "$here/own/scs_set_numbers.c" "$top/"
    grep -q 'const scs_float \*b,' "$top/linsys/scs_matrix.h" || sed -i.old '1i\
#define CONETUNE_OTHER_SCS
' "$top/scs_set_numbers.c"
    amd=$top/linsys/external/amd
    blas="-L$module/internal/ccgo -lblas"
    flags="-I$top -I$top/include -I$top/linsys -I$top/linsys/cpu/direct -DCTRLC=1 -DUSE_LAPACK -DNO_PRINTING=1 -DNO_READ_WRITE=1"
    sources="$top/conetune_scs.c $top/conetune_private.c $top/linsys/scs_matrix.c $top/linsys/csparse.c $top/linsys/external/qdldl/qdldl.c"
    for part in util cones exp_cone aa rw linalg scs_version normalize scs; do
        sources="$sources $top/src/$part.c"
    done
    if grep -q nucsize "$top/include/scs.h"; then # versions that have the nuclear norm cone
        flags="$flags -DUSE_SPECTRAL_CONES"
        sources="$sources $(find "$top/src/spectral_cones" -name '*.c' | sort | tr '\n' ' ')"
    fi
    ;;
osqp)
    if [ -n "${OSQP_SRC:-}" ]; then
        own OSQP_SRC include/public/osqp.h
    else
        sh "$here/fetch.sh" -d "$work" osqp-sys
    fi
    sh "$here/fetch.sh" -d "$work" qdldl
    top=$work/osqp
    qdldl=$work/qdldl/c/qdldl
    cp "$here/transpile/conetune_osqp.c" "$top/"
    # What CMake writes for the options of build-osqp.sh.
    for option in OSQP_ALGEBRA_BUILTIN OSQP_ENABLE_PROFILING OSQP_ENABLE_INTERRUPT IS_LINUX; do
        echo "#define $option"
    done >"$top/osqp_configure.h"
    sed -e 's/@QDLDL_INT_TYPE@/int/' -e 's/@QDLDL_FLOAT_TYPE@/double/' -e 's/@QDLDL_BOOL_TYPE@/unsigned char/' \
        -e 's/@QDLDL_INT_TYPE_MAX@/INT_MAX/' -e /cmakedefine/d "$qdldl/configure/qdldl_types.h.in" >"$top/qdldl_types.h"
    sed 's/@QDLDL_VERSION_[A-Z]*@/0/' "$qdldl/configure/qdldl_version.h.in" >"$top/qdldl_version.h"
    common=$top/algebra/_common
    amd=$common/lin_sys/qdldl/amd/src
    blas=
    flags="-I$top -I$top/include/public -I$top/include/private -I$common -I$top/algebra/builtin
        -I$common/lin_sys/qdldl -I$common/lin_sys/qdldl/amd/include -I$qdldl/include"
    sources="$top/conetune_osqp.c $common/csc_math.c $common/csc_utils.c $common/kkt.c $common/lin_sys/qdldl/qdldl_interface.c
        $top/algebra/builtin/algebra_libs.c $top/algebra/builtin/matrix.c $top/algebra/builtin/vector.c $qdldl/src/qdldl.c"
    for part in auxil error osqp_api polish scaling util timing_linux; do
        sources="$sources $top/src/$part.c"
    done
    ;;
*) die "unknown library $name" ;;
esac
# Of AMD what orders, not what prints.
for part in "$amd"/*.c; do
    case $part in
    *_info.c | *_dump.c | *_control.c) ;;
    *) sources="$sources $part" ;;
    esac
done

# A compiler that only answers questions; copied, since files of a module cache cannot be run.
cp "$here/transpile/cc.sh" "$work/cc"
chmod +x "$work/cc"
# In the module, for its packages; ccgo leaves its objects where it runs.
cd "$work"
# The environment may be that of a build for another system; ccgo runs here. Its linker looks for functions of C in
# the packages libc and libblas, which are there with the tags.
GOOS='' GOARCH='' CGO_ENABLED=0 GOBIN=$work GOFLAGS='' $GO install "modernc.org/ccgo/v4@$CCGO" || die "cannot build ccgo $CCGO"
# shellcheck disable=SC2086 # lists
CC=$work/cc GOFLAGS="${GOFLAGS:-} -tags=${name}_go" "$work/ccgo" --goos linux --goarch amd64 \
    -eval-all-macros -nostdinc "-I$here/transpile/include" $flags -DNDEBUG -DNPRINT \
    --libc=$module/internal/ccgo/libc $blas --package-name lib -build-lines "//go:build ${name}_go" \
    --prefix-external X --prefix-typename T --prefix-field F --prefix-macro M --prefix-enumerator E \
    --prefix-static-internal s_ --prefix-static-none s_ --prefix-tagged-struct T --prefix-tagged-union T --prefix-tagged-enum T \
    --prefix-undefined _ -o "$work/out.go" $sources >"$work/log" 2>&1 || {
    head -n 30 "$work/log" >&2
    die "ccgo could not transpile $name"
}
{
    echo "// Code generated by make transpile from the C sources of $name. DO NOT EDIT."
    sed 1d "$work/out.go"
    echo
    echo "// RunMakeTranspile is missing where this file is."
    echo "const RunMakeTranspile = true"
} >"$work/generated.go"
${GO}fmt -w "$work/generated.go" 2>/dev/null || true
mv -f "$work/generated.go" "$out"
echo "wrote $out"
