#!/bin/sh
# Says hello in every language that it knows.
for file in "$(dirname "$0")"/words/*.txt; do
  printf '%s: %s\n' "$(basename "$file" .txt)" "$(cat "$file")"
done
