#!/bin/sh
# A shell program that learns. Play it in a phase whose feedback is post-edits:
#
#     banditmt-play --feedback --phase PHASE --system word-memory -- ./word_memory.sh MEMORY
#
# It keeps the translation of each word in the file MEMORY, and so remembers them when it is started again.
while IFS= read -r source; do
    printf '%s\n' "$source" | awk -v memory="$1" 'BEGIN {while ((getline < memory) > 0) known[$1] = $2}
        {for (i = 1; i <= NF; i++) if ($i in known) $i = known[$i]; print}'
    IFS= read -r feedback # such as {"score": 0.25, "post_edit": "the correct translation"}
    post_edit=$(printf '%s\n' "$feedback" | sed 's/.*"post_edit": "\(.*\)"}$/\1/; s/\\\(["\\]\)/\1/g')
    printf '%s\n%s\n' "$source" "$post_edit" | awk 'NR == 1 {split($0, word); words = NF}
        NR == 2 && NF == words {for (i = 1; i <= NF; i++) print word[i], $i}' >> "$1"
done
