#!/bin/sh
# Speaks like espeak-ng or flite, by which of their names it is called; see `fake_engines`.
# A sound as long as speech would be. FAKE_ENGINE_FAULT="silence number" makes it silent where the
# text holds "number"; the other faults are clipping, noise, failure and cut (a third of the length).
PATH=/usr/bin:/bin
sounds=${0%/*}/../sounds
name=${0##*/}

case $* in
--version)
    echo "fake $name version: fake-${FAKE_ENGINE_VERSION:-1}"
    [ "$name" = espeak-ng ] # to flite, being asked is a failure
    exit ;;
--voices=en)
    echo en-us en-us-nyc en-gb en-gb-x-rp en-gb-scotland en-gb-x-gbclan en-gb-x-gbcwmd en-029
    exit ;;
--voices=variant) echo "$FAKE_ENGINE_VARIANTS"; exit ;;
-lv) echo Voices available: kal16 awb rms slt; exit ;;
esac

while [ $# -gt 0 ]; do
    case $1 in
    -s) stretch=$((165000 / $2)) ;; # in thousandths
    duration_stretch=*)
        digits=${1#duration_stretch=}
        stretch=$((1${digits%.*}${digits#*.} - 10000)) ;; # the 1 keeps "0833" from being octal
    -t | --) text=$2 ;;
    esac
    shift
done

samples=$(((65 * ${#text} + 550) * stretch / 1000 * 16))
sound=$sounds/speech
case $text in
*"${FAKE_ENGINE_FAULT#* }"*)
    case $FAKE_ENGINE_FAULT in
    "silence "*) sound=/dev/zero ;;
    "clipping "*) sound=$sounds/clipped ;;
    "cut "*) samples=$((samples / 3)) ;;
    "noise "*) echo this is no WAV file; exit ;;
    "failure "*) echo cannot say that >&2; exit 1 ;;
    esac ;;
esac
cat "$sounds/header"
head -c $((2 * samples)) "$sound"
