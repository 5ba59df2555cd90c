# Runs in a mount namespace of its own: makes a container's mounts, calls its hooks and becomes its process.
# Arguments: the root folder, the script that calls the hooks, then three a mount (ro or rw, source, destination), then -- and the command.
set -eu
root=$1 hooks=$2
shift 2
mount --rbind / "$root/.host"
while [ "$1" != -- ]; do
  mount --rbind "$2" "$root$3"
  if [ "$1" = ro ]; then
    mount -o remount,bind,ro "$root$3"
  fi
  shift 3
done
shift
mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
sh "$hooks"
exec chroot "$root" "$@"
