#!/bin/sh
# Trains one recipe after the other in the background: run_queue.sh [--data DIR] FOLDER RECIPE...
#
# DIR is where the data of all recipes lies; EARSHOT_DATA if absent.
# Each run lives in FOLDER/NAME, what it prints in FOLDER/NAME.out. FOLDER/pid is the process that trains now:
# `kill -STOP` pauses it, `kill -CONT` goes on, `kill` ends it and the queue after its state is saved. The same
# command goes on where it stopped; what is done is passed over. PYTHON=python says with what.
set -u
if [ "$1" = --data ]; then
  export EARSHOT_DATA="$2"
  shift 2
fi
folder=$1
shift
mkdir -p "$folder"
for recipe in "$@"; do
  name=$(basename "$recipe" .toml)
  OMP_NUM_THREADS=1 nice -n 19 ${PYTHON:-python} -m earshot.training train "$recipe" --run "$folder/$name" --device cpu \
    >>"$folder/$name.out" 2>&1 &
  echo $! >"$folder/pid"
  wait $!
  code=$?
  rm -f "$folder/pid"
  if [ $code -ne 0 ]; then
    echo "$name: stopped with exit code $code" >&2
    exit $code
  fi
done
