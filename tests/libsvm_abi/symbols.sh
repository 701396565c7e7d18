#!/bin/bash
# The libraries export LIBSVM's C functions and nothing else, all that Debian's library has.
#   symbols.sh LIBRARY...
set -euo pipefail
exported() { nm -D --defined-only "$1" | awk '{print $3}' | sort; }
# Reads to the end: leaving early would end the writer, and with it this script, by a signal.
theirs=$(ldconfig -p | awk '/libsvm\.so\.3 / && !found {found = $NF} END {print found}')
wanted=$(exported "$theirs" | grep -E '^(svm_|libsvm_)')
for library in "$@"; do
  found=$(exported "$library")
  [ "$found" = "$wanted" ] || { diff <(echo "$wanted") <(echo "$found"); exit 1; }
  soname=$(objdump -p "$library" | awk '/SONAME/{print $2}')
  [ "$soname" = "$(basename "$library")" ] || { echo "soname $soname of $library"; exit 1; }
done
echo "$(echo "$wanted" | wc -l) names"
