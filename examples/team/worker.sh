#!/bin/sh
# A worker that is a program: it reads its prompt, does what its mail says, and its last words are the hand-off.
mail=$(sed -n '/^## Inbox/,/^## Recent Activity/p')
task=$(printf '%s\n' "$mail" | sed -n 's/.*\[TASK:tk_[a-z0-9]*\] //p' | head -n 1)

case "$task" in
  german) echo Hallo > words/de.txt; what=words/de.txt ;;
  french) echo Bonjuor > words/fr.txt; what=words/fr.txt ;;
  italian)
    moot send --kind blocker --to lead --workaround "the word that the French neighbours use for it, Ciao" \
      "there is no Italian dictionary here"
    exit 0 ;;   # its turn is over, and the task stays in its hands until the lead has answered
  issue*) echo Bonjour > words/fr.txt; what=words/fr.txt ;;
  merge*)
    git merge --abort 2>/dev/null   # what this worker was killed in the middle of, if it was
    for branch in $(printf '%s\n' "$mail" | sed -n 's/.*git merge \(moot[^ ]*\).*/\1/p'); do
      git merge --quiet --no-edit "$branch" || exit 1
    done
    what="all languages on one branch" ;;
  *) echo Ciao > words/it.txt; what=words/it.txt ;;   # the answer of the lead has come
esac

git add words && { git diff --cached --quiet || git commit --quiet -m "Say hello: $what"; }
printf 'done: %s; evidence: sh check.sh: %s; risk: none; next: review it\n' "$what" "$(sh check.sh)"
