#!/bin/sh
# ccgo asks a C compiler for the macros that are defined and for the folders of its headers. This answers it: the
# sources are read as on a system with pointers of 64 bits, with the headers of include and no others, so that the
# outcome is the same whatever machine makes it.
case " $* " in
*" -dM "*)
    cat <<'EOF'
#define __STDC__ 1
#define __STDC_VERSION__ 201112L
#define __CHAR_BIT__ 8
#define __SIZEOF_POINTER__ 8
#define __SIZEOF_LONG_DOUBLE__ 8
#define __SIZE_TYPE__ long unsigned int
#define __PTRDIFF_TYPE__ long int
#define __WCHAR_TYPE__ int
#define __INT64_TYPE__ long int
#define __UINT16_TYPE__ short unsigned int
#define __UINT32_TYPE__ unsigned int
#define __UINT64_TYPE__ long unsigned int
EOF
    ;;
*)
    printf '%s\n' '#include "..." search starts here:' '#include <...> search starts here:' 'End of search list.' >&2
    ;;
esac
