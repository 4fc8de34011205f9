#!/bin/bash
# subset.sh TTC: makes NotoSansSC-subset.otf from NotoSansCJK-Regular.ttc (Debian package fonts-noto-cjk, SIL OFL 1.1,
# OFL.txt) with pyftsubset of fonttools: ASCII, Latin-1, punctuation, the 3755 characters of GB 2312 level 1 and the
# few others that our own Chinese labels use. One font for all text, so that a width is the same in every file.
set -euo pipefail
cd "$(dirname "$0")"
chars=$(mktemp)
trap 'rm -f "$chars"' EXIT
python3 - >"$chars" <<'PY'
out = ''.join(map(chr, [*range(0x20, 0x7f), *range(0xa0, 0x100)]))
out += '–—‘’“”†•…‰′″‹›←↑→↓−≈≠≤≥∞√μσΔ·、。《》「」『』【】〈〉（），：；？！～％＋－／＝｜'
out += '阈'
for hi in range(0xB0, 0xD8):
    for lo in range(0xA1, 0xFF):
        try:
            out += bytes([hi, lo]).decode('gb2312')
        except UnicodeDecodeError:
            pass
print(out)
PY
# Glyph 0 keeps its outline: a character that is missing shows as a box instead of vanishing.
pyftsubset "$1" --font-number=2 --text-file="$chars" --output-file=NotoSansSC-subset.otf \
	--no-hinting --desubroutinize --notdef-outline --layout-features='' --name-IDs='*'
