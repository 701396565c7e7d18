#!/bin/bash
# Installs the build into an empty prefix and uses it from there: by find_package, by pkg-config,
# and by running the program.
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

PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name maxmargin.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$source/consumer.cpp" -o "$work/consumer" \
  $(pkg-config --cflags --libs maxmargin)
"$work/consumer"

"$work/prefix/bin/maxmargin" --version
printf '1 1:1\n-1 1:-1\n' >"$work/data"
"$work/prefix/bin/svm-train" -q "$work/data" "$work/model"
"$work/prefix/bin/svm-predict" "$work/data" "$work/model" "$work/predicted"
rm -rf "$work"
