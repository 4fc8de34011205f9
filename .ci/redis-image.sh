#!/usr/bin/env bash
# Builds the Docker image redis:7.0-local from the redis-server that is installed, for machines that reach no registry:
# the program and the libraries that it loads, in one tar stream into `docker import`. The image has CMD and no
# ENTRYPOINT, so that lockbench's full command runs in it as in an official image. Does nothing if the image is there.
set -euo pipefail

tag=${1:-redis:7.0-local}
if timeout 20 docker image inspect "$tag" >/dev/null 2>&1; then
  echo "image $tag is present"
  exit 0
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{etc,tmp,data,dev,proc,sys,usr/bin}
chmod 1777 "$root/tmp" "$root/data"
echo 'root:x:0:0:root:/data:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"

# add copies a program to /usr/bin and every library that it is linked with to where it is looked for.
add() {
  local program library
  program=$(command -v "$1")
  install -D -m 755 "$(readlink -f "$program")" "$root/usr/bin/$1"
  ldd "$program" | awk '/=> \//{print $3} /^\t\//{print $1}' | while read -r library; do
    install -D -m 755 "$(readlink -f "$library")" "$root$library"
  done
}
add redis-server
if command -v redis-cli >/dev/null; then
  add redis-cli
fi

tar -C "$root" --owner=0 --group=0 --numeric-owner --sort=name -cf - . |
  timeout 60 docker import \
    -c 'CMD ["redis-server","--protected-mode","no"]' -c 'EXPOSE 6379' -c 'WORKDIR /data' \
    -c 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "$tag" >/dev/null
echo "image $tag is built from $(redis-server --version | cut -d' ' -f3)"
