#!/usr/bin/env bash
# One call on a borrowed GPU host, where nothing of ours is installed and no network is: unpacks the
# wheels that came along, trains for the minutes given, leaves model and log (docs/training.md).
# usage: on_host.sh RECIPE LUGGAGE OUTPUT MINUTES [COOL_MINUTES]
set -euo pipefail
recipe=$(realpath "$1") luggage=$(realpath "$2") output=$(realpath -m "$3") minutes=$4 cool=${5:-0}
python=${PYTHON:-python3}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

site=$PWD/build/host-packages
if [[ ! -d $site ]]; then
  "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-compile \
    --target "$site.new" "$luggage"/wheels/*.whl
  mv "$site.new" "$site"
fi
export PYTHONPATH=$site:$PWD PYTHONUNBUFFERED=1
gpu=$("$python" -c 'import torch; print(int(torch.cuda.is_available()))')
status=0
"$python" -m earshot.training host "$recipe" --pieces "$luggage" --output "$output" \
  --minutes "$minutes" --cool-minutes "$cool" || status=$?

# A call that can only wait looks at the machine instead.
waits=3
if ((status == waits && gpu)) && [[ ! -e $luggage/speed.md ]]; then
  "$python" benchmarks/training_speed.py "$recipe" --device cuda | tee "$luggage/speed.md"
fi
exit "$status"
