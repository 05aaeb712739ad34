#!/bin/sh
# Sees to it that there is a Chromium for the tests of the live page: Debian's, where it may be installed.
set -eu

for name in "${MOOT_CHROMIUM:-chromium}" chromium chromium-browser google-chrome-stable google-chrome; do
    if command -v "$name" >/dev/null; then exit 0; fi
done

give_up() {
    echo "There is no Chromium here, and it cannot be installed: $1." >&2
    echo "Install Chromium or Chrome, or name one: MOOT_CHROMIUM=/path/to/it make test-browser" >&2
    exit 1
}

command -v apt-get >/dev/null || give_up "there is no apt-get"
if [ "$(id -u)" = 0 ]; then as_root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root="sudo"
else give_up "that takes root, or sudo without a password"
fi

echo "Installing Chromium"
export DEBIAN_FRONTEND=noninteractive
install="$as_root apt-get install --yes --quiet --no-install-recommends chromium"
$install >/dev/null || { $as_root apt-get update --quiet >/dev/null && $install >/dev/null; } || give_up "apt-get failed"
