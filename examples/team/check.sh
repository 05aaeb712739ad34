#!/bin/sh
# Every language has exactly one word.
for file in words/*.txt; do
  [ "$(wc -w < "$file")" -eq 1 ] || { echo "$file has not one word" >&2; exit 1; }
done
echo "$(ls words | wc -l | tr -d ' ') languages"
