#!/bin/sh
# Any program that reads a sentence per line and writes a translation per line can play:
#
#     banditmt-play --phase mock --system word-swap -- ./translator.sh
#
# This one replaces a few German words. Put your own command line here; it must flush after every line (sed -u,
# awk with fflush(), python -u, stdbuf -oL ...).
exec sed -u -e 's/\bund\b/and/g' -e 's/\bmit\b/with/g' -e 's/\baus\b/made of/g' -e 's/\bgröße\b/size/g'
