#!/bin/sh
# Any program that reads one sentence per line and writes one translation per line can play:
#
#     banditmt-play --phase mock --system word-swap -- ./translator.sh
#
# This one replaces a few German words. Put your own command here; it must flush its output after every line
# (sed -u, awk with fflush(), stdbuf -oL ...; Python programs do). word_memory.sh is one that learns.
exec sed -u -e 's/\bund\b/and/g' -e 's/\bmit\b/with/g' -e 's/\baus\b/made of/g' -e 's/\bgröße\b/size/g'
