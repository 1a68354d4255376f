#!/usr/bin/env bash
# Tests the report in headless Chromium. Needs a release build (or another, named by C2CNET), node and Chromium; what is missing is
# installed by apt where that is possible, and the test is skipped, with the reason, where it is not.
set -euo pipefail
cd "$(dirname "$0")"

skip() { echo "browser test skipped: $*"; exit 0; }
has_chromium() { [ -n "${CHROMIUM:-}" ] || command -v chromium chromium-browser google-chrome > /dev/null; }

packages=()
command -v npm > /dev/null || packages+=(nodejs npm)
has_chromium || packages+=(chromium)
if [ ${#packages[@]} -gt 0 ]; then
  [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || skip "no ${packages[*]}, and apt cannot be used"
  (timeout 60 apt-get update -qq \
    && timeout 240 env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}") \
    > /dev/null 2>&1 || skip "apt could not install ${packages[*]}"
fi
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || skip "node is version $major, and 20 is needed"
timeout 120 npm ci --silent --no-audit --no-fund || skip "npm could not fetch playwright-core"
exec node report.test.mjs
