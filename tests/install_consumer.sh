#!/bin/bash
# Installs the build into an empty prefix and uses it from there: by find_package, by pkg-config,
# by running the program, and as the library of programs that were linked against LIBSVM.
#   install_consumer.sh BUILD_DIR WORK_DIR COMPILER
set -euo pipefail
build=$1 work=$2 compiler=$3
source=$(cd "$(dirname "$0")" && pwd)/consumer

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >/dev/null

cmake -S "$source" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$work/cmake"
"$work/cmake/consumer"
"$work/cmake/three_classes"

PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name maxmargin.pc)")
export PKG_CONFIG_PATH
for program in "$source/consumer.cpp" "$source/../../examples/three_classes.cpp"; do
  # shellcheck disable=SC2046
  "$compiler" "$program" -o "$work/consumer" $(pkg-config --cflags --libs maxmargin)
  "$work/consumer"
done

"$work/prefix/bin/maxmargin" --version
printf '1 1:1\n-1 1:-1\n' >"$work/data"
"$work/prefix/bin/svm-train" -q "$work/data" "$work/model"
"$work/prefix/bin/svm-predict" "$work/data" "$work/model" "$work/predicted"
"$work/prefix/bin/svm-scale" -s "$work/range" "$work/data" >"$work/scaled"

# Debian's own svm-train and svm-predict, which are linked against LIBSVM, with our library instead.
LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name libsvm.so.3)")
export LD_LIBRARY_PATH
ldd /usr/bin/svm-train | grep -F "$LD_LIBRARY_PATH/libsvm.so.3"
for type in 0 1 2 3 4; do
  /usr/bin/svm-train -s "$type" -q "$work/data" "$work/theirs"
  "$work/prefix/bin/svm-train" -s "$type" -q "$work/data" "$work/model"
  cmp "$work/theirs" "$work/model"
  /usr/bin/svm-predict "$work/data" "$work/theirs" "$work/predicted"
done
rm -rf "$work"
