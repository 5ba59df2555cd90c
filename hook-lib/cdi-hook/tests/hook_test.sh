# Cases of the CDI hook. Arguments: the hook, the folder of fixtures, openat2 or walk, the case.
# Each makes an image's root, mounts what the container runtime would have mounted, calls the hook as the runtime would, and
# lets the machine's own dynamic linker look for libcuda in it.
set -eu
hook=$1
fixtures=$2
way=$3
name=$4

if [ "${5:-}" != inside ]; then
    folder=$(mktemp -d "${TMPDIR:-/tmp}/partita-hook-test-XXXXXX")
    # Nothing that the namespace has mounted can be in the folder any more when this removes it.
    trap 'rm -rf "$folder"' EXIT
    user=
    [ "$(id -u)" = 0 ] || user="--user --map-root-user"
    # shellcheck disable=SC2086
    if ! unshare $user --mount true 2> /dev/null; then
        echo "mount namespaces are not allowed here"
        exit 77
    fi
    # shellcheck disable=SC2086
    (cd "$folder" && unshare $user --mount --propagation private sh "$0" "$hook" "$fixtures" "$way" "$name" inside)
    exit
fi

root=$PWD/rootfs
environment=
options=
[ "$way" = openat2 ] || options=--without-openat2

fail() {
    echo "FAILED: $*" >&2
    [ ! -f said ] || cat said >&2
    exit 1
}

# Where this machine's linker finds libc, and every file that which-library needs.
needed=$(ldd "$fixtures/which-library" | grep -o '/[^ ]*')
libc=$(echo "$needed" | grep '/libc\.so')
own=$(dirname "$libc")

# An image of this machine's kind: its linker, its libc, nothing of a driver.
image() {
    mkdir -p "$root/tmp"
    for file in $needed; do
        mkdir -p "$root$(dirname "$file")"
        cp "$file" "$root$file"
    done
    cp "$fixtures/which-library" "$root/"
}

# The image has a library of its own: name, path.
image_has() {
    mkdir -p "$root$(dirname "$2")"
    cp "$fixtures/image-$1.so" "$root$2"
}

bind() {
    mkdir -p "$root$(dirname "$2")"
    [ -e "$root$2" ] || : > "$root$2"
    mount --bind "$1" "$root$2"
    mount -o remount,bind,ro "$root$2"
}

# What a runtime has mounted of a share, at a folder.
runtime_mounts() {
    for library in libcuda libnvidia-ml; do
        bind "$fixtures/share-$library.so" "$1/$library.so.1"
    done
}

# The driver's own library behind a share's, and one that it opens by name, as the host has it.
runtime_mounts_a_driver() {
    runtime_mounts "$1"
    bind "$fixtures/host-libcuda.so" /usr/lib/partita/libcuda-real.so.1
    bind "$fixtures/host-ptxjit.so" "$1/libnvidia-ptxjitcompiler.so.1"
}

# The host's driver is of the version $1; the library behind the share's is then that of $2.
behind_is() {
    call cover --folder "$own" --driver "$1"
    [ "$status" = 0 ] || fail "cover ended with $status"
    finds "$2" A=b /usr/lib/partita/libcuda-real.so.1
    finds share
}

config() {
    printf '{"ociVersion": "1.2.0", "process": {"terminal": false, "env": ["PATH=/bin"%s], "cwd": "/tmp"}, "root": {"path": "rootfs", "readonly": false}, "mounts": [{"destination": "/proc"}]}' \
        "$environment" > config.json
}

with_variable() {
    environment="$environment, \"$1\""
}

# Calls the hook; its exit status is left in $status, what it said in the file said.
call() {
    config
    status=0
    # shellcheck disable=SC2086
    printf '{"ociVersion": "1.2.0", "id": "c", "status": "creating", "pid": 1, "bundle": "%s", "annotations": {"a": "b"}}' "$PWD" |
        timeout 60 "$hook" "$@" $options > said 2>&1 || status=$?
}

hook_covers() {
    call cover --folder "$1"
    [ "$status" = 0 ] || fail "cover ended with $status"
}

refused() {
    [ "$status" = 1 ] || fail "cover ended with $status, not 1"
    grep -q "$1" said || fail "it was not said: $1"
}

# finds ANSWER [VARIABLE=VALUE] [LIBRARY]: whose library a program in the image gets
finds() {
    answer=$(timeout 30 env -i "PATH=$PATH:/usr/sbin:/sbin" "${2:-A=b}" chroot "$root" /which-library "${3:-libcuda.so.1}")
    [ "$answer" = "$1" ] || fail "a program finds the library of: $answer, not of: $1"
}

is_shares() {
    cmp -s "$fixtures/share-$2.so" "$root$1" || fail "$1 is not the share's"
}

mounts() {
    grep -c "$root" /proc/self/mountinfo
}

test_a_compat_folder_on_the_library_path_is_covered() {
    image
    image_has libcuda /usr/local/cuda/compat/libcuda.so.1
    with_variable LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/cuda/compat
    runtime_mounts "$own"
    finds image LD_LIBRARY_PATH=/usr/local/cuda/compat
    hook_covers "$own"
    finds share LD_LIBRARY_PATH=/usr/local/cuda/compat
}

# The image's toolkit, as NVIDIA's images have it: a folder of compat libraries of this version.
compat_folder() {
    image_has "${2:-libcuda}" "/usr/local/cuda-13.0/compat/libcuda.so.$1"
    ln -s "libcuda.so.$1" "$root/usr/local/cuda-13.0/compat/libcuda.so.1"
    ln -s cuda-13.0 "$root/usr/local/cuda"
}

test_a_share_stands_in_front_of_the_images_compat_library_where_that_is_newer() {
    image
    compat_folder 580.65.06
    runtime_mounts_a_driver "$own"
    finds host A=b /usr/lib/partita/libcuda-real.so.1
    behind_is 535.261.03 image
    finds share LD_LIBRARY_PATH=/usr/local/cuda/compat
    is_shares /usr/local/cuda/compat/libcuda.so.580.65.06 libcuda
    before=$(mounts)
    behind_is 535.261.03 image # with a second claim the hook is called again
    [ "$(mounts)" = "$before" ] || fail "a second call made mounts"
}

test_a_share_stays_in_front_of_the_hosts_library_where_the_images_is_not_newer() {
    image
    compat_folder 580.65.06
    runtime_mounts_a_driver "$own"
    for driver in 580.65.06 580.10 580.95.05 595.1.2 1000.1; do
        behind_is $driver host
        umount "$root/usr/local/cuda/compat/libcuda.so.580.65.06"
    done
    for driver in '' 535 x 535.x 535.1.2.3 999999999999.1; do
        behind_is "$driver" host
        umount "$root/usr/local/cuda/compat/libcuda.so.580.65.06"
    done
    hook_covers "$own"
    finds host A=b /usr/lib/partita/libcuda-real.so.1
}

test_a_compat_library_that_names_its_drivers_is_taken_for_these() {
    image
    cp "$fixtures/noted-libcuda.so" noted.so
    mkdir -p "$root/usr/local/cuda/compat"
    cp noted.so "$root/usr/local/cuda/compat/libcuda.so.580.65.06"
    runtime_mounts_a_driver "$own"
    for driver in 525.147.05 570.86.15 580.65.06 580.95.05; do
        behind_is $driver host
        umount "$root/usr/local/cuda/compat/libcuda.so.580.65.06"
    done
    for driver in 535.261.03 550.54.14 580.65.05; do
        behind_is $driver noted
        umount "$root/usr/local/cuda/compat/libcuda.so.580.65.06"
        umount "$root/usr/lib/partita/libcuda-real.so.1"
    done
}

test_what_a_compat_library_opens_is_found_beside_it() {
    image
    compat_folder 580.65.06
    for library in libnvidia-ptxjitcompiler.so.1 libnvidia-nvvm.so.4 libcudadebugger.so.1; do
        image_has ptxjit /usr/local/cuda/compat/$library
    done
    image_has libnvidia-ml /usr/local/cuda/compat/libnvidia-ml.so.1
    image_has ptxjit /usr/local/cuda/compat/libother.so.1
    runtime_mounts_a_driver "$own"
    finds host A=b libnvidia-ptxjitcompiler.so.1
    behind_is 535.261.03 image
    finds image A=b libnvidia-ptxjitcompiler.so.1
    finds image A=b libnvidia-nvvm.so.4
    finds image A=b libcudadebugger.so.1
    finds share A=b libnvidia-ml.so.1
    finds none A=b libother.so.1
}

test_what_the_hosts_library_opens_stays_where_that_is_used() {
    image
    compat_folder 580.65.06
    image_has ptxjit /usr/local/cuda/compat/libnvidia-ptxjitcompiler.so.1
    runtime_mounts_a_driver "$own"
    behind_is 590.48.01 host
    finds host A=b libnvidia-ptxjitcompiler.so.1
}

test_what_a_compat_library_opens_is_found_where_the_images_linker_looks() {
    image
    compat_folder 580.65.06
    image_has ptxjit /usr/local/cuda/compat/libnvidia-ptxjitcompiler.so.1
    image_has ptxjit /usr/local/cuda/compat/libnvidia-nvvm.so.4
    runtime_mounts_a_driver /opt/host/lib
    call place --folder /opt/host/lib libcuda.so.1 libnvidia-ml.so.1 libnvidia-ptxjitcompiler.so.1
    finds host A=b libnvidia-ptxjitcompiler.so.1
    call cover --folder /opt/host/lib --driver 535.261.03
    [ "$status" = 0 ] || fail "cover ended with $status"
    finds image A=b /usr/lib/partita/libcuda-real.so.1
    finds image A=b libnvidia-ptxjitcompiler.so.1
    finds image A=b libnvidia-nvvm.so.4
    finds share
}

test_the_newest_of_several_compat_libraries_that_work_is_taken() {
    image
    compat_folder 545.23.08
    image_has libcuda /usr/local/cuda-12/compat/lib.real/libcuda.so.550.90.07
    mkdir -p "$root/usr/local/cuda-12/compat" "$root/opt/conda/cuda-compat"
    cp "$fixtures/noted-libcuda.so" "$root/opt/conda/cuda-compat/libcuda.so.580.65.06" # not for the driver 525
    cp "$fixtures/share-libcuda.so" "$root/usr/local/cuda-12/compat/libcuda.so.999.1"  # of an image made in a share
    echo nothing > "$root/usr/local/cuda-12/compat/libcuda.so.999.2"
    mkdir "$root/usr/local/cuda-12/compat/libcuda.so.999.3"
    mkfifo "$root/usr/local/cuda-12/compat/libcuda.so.999.4"
    ln -s nowhere "$root/usr/local/cuda-12/compat/libcuda.so.999.5"
    cp "$fixtures/host-libcuda.so" "$root/usr/local/cuda-12/compat/libcuda.so.999.6"
    chmod 700 "$root/usr/local/cuda-12/compat/libcuda.so.999.6" # users could not load it
    cp "$fixtures/host-libcuda.so" "$root/usr/local/cuda-12/compat/libcuda.so.560" # is no version
    cp "$fixtures/host-libcuda.so" "$root/usr/local/cuda-12/compat/libcuda.so.560.1.old"
    runtime_mounts_a_driver "$own"
    cp "$root/usr/local/cuda-12/compat/lib.real/libcuda.so.550.90.07" newest.so
    echo '# the newest' >> "$root/usr/local/cuda-12/compat/lib.real/libcuda.so.550.90.07"
    echo '# the newest' >> newest.so
    behind_is 525.147.05 image
    cmp -s newest.so "$root/usr/lib/partita/libcuda-real.so.1" || fail "it is not the newest"
}

test_a_newer_libcuda_that_is_no_compat_library_stays_out() {
    image
    image_has libcuda "$own/libcuda.so.999.1"
    image_has libcuda /usr/local/nvidia/lib64/libcuda.so.999.1
    image_has libcuda /usr/local/compatible/libcuda.so.999.1
    with_variable LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/local/compatible
    runtime_mounts_a_driver "$own"
    behind_is 535.261.03 host
}

test_a_compat_library_that_cannot_be_loaded_where_it_lies_stays_out() {
    image
    mkdir -p volume "$root/usr/local/cuda/compat"
    mount -t tmpfs -o noexec none "$root/usr/local/cuda/compat"
    cp "$fixtures/image-libcuda.so" "$root/usr/local/cuda/compat/libcuda.so.580.65.06"
    runtime_mounts_a_driver "$own"
    behind_is 535.261.03 host
    mount -o remount,exec "$root/usr/local/cuda/compat"
    umount "$root/usr/local/cuda/compat/libcuda.so.580.65.06"
    behind_is 535.261.03 image
}

test_a_compat_library_in_an_image_that_may_not_be_written_is_used() {
    image
    compat_folder 580.65.06
    image_has ptxjit /usr/local/cuda/compat/libnvidia-ptxjitcompiler.so.1
    image_has ptxjit /usr/local/cuda/compat/libnvidia-nvvm.so.4
    runtime_mounts_a_driver "$own"
    mount --rbind "$root" "$root"
    mount -o remount,bind,ro "$root"
    cd .
    behind_is 535.261.03 image
    finds image A=b libnvidia-ptxjitcompiler.so.1
    grep -q 'libnvidia-nvvm.so.4 of the image cannot be put into' said || fail "it was not said what is missing"
}

test_links_of_a_compat_folder_do_not_lead_out_of_the_root() {
    image
    mkdir -p outside "$root/usr/local/cuda/compat"
    cp "$fixtures/image-libcuda.so" outside/libcuda.so.580.1
    ln -s "$PWD/outside/libcuda.so.580.1" "$root/usr/local/cuda/compat/libcuda.so.580.1"
    ln -s "../../../../../../../../../../..$PWD/outside/libcuda.so.580.1" "$root/usr/local/cuda/compat/libcuda.so.580.2"
    ln -s "$PWD/outside" "$root/usr/local/cuda/compat/lib"
    runtime_mounts_a_driver "$own"
    behind_is 535.261.03 host
}

test_a_whole_cards_container_has_nothing_put_behind() {
    image
    compat_folder 580.65.06
    runtime_mounts "$own"
    call cover --folder "$own" --driver 535.261.03
    [ "$status" = 0 ] || fail "cover ended with $status"
    [ ! -e "$root/usr/lib/partita" ] || fail "something was made"
}

test_a_volume_that_passes_mounts_on_is_never_mounted_in() {
    image
    mkdir -p node "$root/srv/volume"
    cp "$fixtures/image-libcuda.so" node/libcuda.so.1
    mount --bind node node
    mount --make-shared node
    mount --bind node "$root/srv/volume"
    with_variable LD_LIBRARY_PATH=/srv/volume
    runtime_mounts "$own"
    call cover --folder "$own"
    refused Bidirectional
    cmp -s "$fixtures/image-libcuda.so" node/libcuda.so.1 || fail "the node's file is covered"
    mount --make-private "$root/srv/volume"
    hook_covers "$own"
    finds share LD_LIBRARY_PATH=/srv/volume
    cmp -s "$fixtures/image-libcuda.so" node/libcuda.so.1 || fail "the node's file is covered"
}

test_any_folder_on_the_library_path_is_covered() {
    image
    image_has libcuda /srv/one/libcuda.so.1
    image_has libcuda /srv/two/libcuda.so.1
    image_has libcuda /srv/three/libcuda.so.1
    with_variable "LD_LIBRARY_PATH=/nowhere:/srv/one/;/srv/two"
    with_variable 'LD_LIBRARY_PATH=\u002fsrv\/three'
    runtime_mounts "$own"
    hook_covers "$own"
    finds share LD_LIBRARY_PATH=/srv/one
    finds share LD_LIBRARY_PATH=/srv/two
    finds share LD_LIBRARY_PATH=/srv/three
}

test_a_relative_library_path_is_meant_from_the_working_folder() {
    image
    image_has libcuda /tmp/libcuda.so.1
    image_has libcuda /tmp/lib/libcuda.so.1
    with_variable LD_LIBRARY_PATH=lib:
    runtime_mounts "$own"
    hook_covers "$own"
    is_shares /tmp/libcuda.so.1 libcuda
    is_shares /tmp/lib/libcuda.so.1 libcuda
}

test_a_preloaded_library_is_covered() {
    image
    image_has libcuda /srv/libcuda.so.1
    with_variable LD_PRELOAD=/srv/libcuda.so.1
    runtime_mounts "$own"
    hook_covers "$own"
    finds share LD_PRELOAD=/srv/libcuda.so.1
}

test_a_library_that_the_image_has_preloaded_for_all_programs_is_covered() {
    image
    image_has libcuda /srv/libcuda.so.1
    mkdir -p "$root/etc"
    printf '# ours\n/nowhere/libother.so:/srv/libcuda.so.1\n' > "$root/etc/ld.so.preload"
    runtime_mounts "$own"
    finds image
    hook_covers "$own"
    finds share
}

test_every_version_and_link_in_a_compat_folder_is_covered() {
    image
    image_has libcuda /usr/local/cuda-13.0/compat/lib.real/libcuda.so.580.65.06
    ln -s libcuda.so.580.65.06 "$root/usr/local/cuda-13.0/compat/lib.real/libcuda.so.1"
    ln -s libcuda.so.1 "$root/usr/local/cuda-13.0/compat/lib.real/libcuda.so"
    ln -s cuda-13.0 "$root/usr/local/cuda"
    runtime_mounts "$own"
    hook_covers "$own"
    # what the image's entry point does when it finds the driver old enough
    ln -s lib.real "$root/usr/local/cuda/compat/lib"
    finds share LD_LIBRARY_PATH=/usr/local/cuda/compat/lib
    finds share LD_LIBRARY_PATH=/usr/local/cuda/compat/lib libcuda.so
    finds share A=b /usr/local/cuda-13.0/compat/lib.real/libcuda.so.580.65.06
}

test_nvml_is_covered_like_libcuda() {
    image
    image_has libnvidia-ml /usr/local/nvidia/lib64/libnvidia-ml.so.535.261
    ln -s libnvidia-ml.so.535.261 "$root/usr/local/nvidia/lib64/libnvidia-ml.so.1"
    runtime_mounts "$own"
    hook_covers "$own"
    is_shares /usr/local/nvidia/lib64/libnvidia-ml.so.535.261 libnvidia-ml
    finds share LD_LIBRARY_PATH=/usr/local/nvidia/lib64 libnvidia-ml.so.1
}

test_a_later_ldconfig_in_the_container_cannot_pick_another_library() {
    image
    mkdir -p "$root/etc/ld.so.conf.d"
    echo 'include /etc/ld.so.conf.d/*.conf' > "$root/etc/ld.so.conf"
    echo '/opt/toolkit/compat # the newest' > "$root/etc/ld.so.conf.d/00-compat.conf"
    image_has libcuda /opt/toolkit/compat/libcuda.so.999.1
    image_has libcuda "$own/libcuda.so.999.2"
    PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root"
    runtime_mounts "$own"
    hook_covers "$own"
    finds share
    PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root"
    finds share
    PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root" -p | grep -q 'libcuda\.so\.1 .*/opt/toolkit' || fail "ldconfig did not read the compat folder"
}

test_a_library_that_only_the_linkers_cache_knows_is_covered() {
    image
    mkdir -p "$root/etc"
    echo /opt/hidden > "$root/etc/ld.so.conf"
    image_has libcuda /opt/hidden/libcuda.so.1
    PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root"
    rm "$root/etc/ld.so.conf"
    runtime_mounts "$own"
    finds image
    hook_covers "$own"
    finds share
}

test_relative_includes_of_the_linkers_configuration_are_read() {
    image
    mkdir -p "$root/etc/ld.so.conf.d"
    printf '# none\n\ninclude ld.so.conf.d/*.conf\nhwcap 1 nosegneg\n' > "$root/etc/ld.so.conf"
    printf '  /srv/lib=libc6  \r\n' > "$root/etc/ld.so.conf.d/a.conf"
    image_has libcuda /srv/lib/libcuda.so.1
    runtime_mounts "$own"
    hook_covers "$own"
    is_shares /srv/lib/libcuda.so.1 libcuda
}

test_a_folder_of_the_linkers_configuration_may_have_spaces_in_its_name() {
    image
    mkdir -p "$root/etc"
    printf ' /srv/our, new libraries\n' > "$root/etc/ld.so.conf"
    image_has libcuda '/srv/our, new libraries/libcuda.so.1'
    runtime_mounts /opt/host/lib
    hook_covers /opt/host/lib
    PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root"
    finds share
}

test_the_linkers_configuration_does_not_end_with_a_nul() {
    image
    mkdir -p "$root/etc"
    printf 'first\0\n/srv/behind\n' > "$root/etc/ld.so.conf"
    image_has libcuda /srv/behind/libcuda.so.1
    runtime_mounts /opt/host/lib
    hook_covers /opt/host/lib
    PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root" 2> /dev/null
    finds share
}

test_variants_for_processors_are_covered() {
    image
    image_has libcuda /srv/lib/glibc-hwcaps/x86-64-v3/libcuda.so.1
    image_has libcuda /srv/lib/tls/haswell/libcuda.so.1
    with_variable LD_LIBRARY_PATH=/srv/lib
    runtime_mounts "$own"
    hook_covers "$own"
    is_shares /srv/lib/glibc-hwcaps/x86-64-v3/libcuda.so.1 libcuda
    is_shares /srv/lib/tls/haswell/libcuda.so.1 libcuda
}

test_stubs_to_link_with_stay_and_stubs_that_can_be_loaded_do_not() {
    image
    image_has libcuda /usr/local/cuda/lib64/stubs/libcuda.so
    image_has libcuda /usr/local/cuda/lib64/stubs/libcuda.so.1
    with_variable LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs
    runtime_mounts "$own"
    hook_covers "$own"
    cmp -s "$fixtures/image-libcuda.so" "$root/usr/local/cuda/lib64/stubs/libcuda.so" || fail "the stub was covered"
    is_shares /usr/local/cuda/lib64/stubs/libcuda.so.1 libcuda
}

test_a_second_call_changes_nothing() {
    image
    image_has libcuda /usr/local/cuda/compat/libcuda.so.1
    image_has libcuda /usr/local/cuda/compat/libcuda.so.2
    runtime_mounts "$own"
    before=$(mounts)
    hook_covers "$own"
    [ "$(mounts)" = $((before + 2)) ] || fail "$(mounts) mounts after one call, $before before"
    hook_covers "$own"
    [ "$(mounts)" = $((before + 2)) ] || fail "a second call made mounts"
}

test_what_covers_cannot_be_written() {
    image
    image_has libcuda /usr/local/cuda/compat/libcuda.so.1
    runtime_mounts "$own"
    hook_covers "$own"
    if (echo broken > "$root/usr/local/cuda/compat/libcuda.so.1") 2> /dev/null; then
        fail "it can be written"
    fi
}

test_an_image_with_nothing_in_it_is_fine() {
    mkdir "$root"
    runtime_mounts /usr/lib64
    hook_covers /usr/lib64
    call place --folder /usr/lib64 libcuda.so.1
    [ "$status" = 0 ] || fail "place ended with $status"
    [ ! -e "$root/etc" ] || fail "something was made"
}

test_the_image_may_be_read_only() {
    image
    image_has libcuda /usr/local/cuda/compat/libcuda.so.1
    runtime_mounts /opt/host/lib
    mount --rbind "$root" "$root"
    mount -o remount,bind,ro "$root"
    cd .
    hook_covers /opt/host/lib
    is_shares /usr/local/cuda/compat/libcuda.so.1 libcuda
    call place --folder /opt/host/lib libcuda.so.1
    [ "$status" = 0 ] || fail "place ended with $status"
    grep -q 'Read-only file system' said || fail "it was not said that the file system is read-only"
}

test_a_share_whose_libraries_are_not_mounted_is_refused() {
    image
    mkdir -p "$root$own"
    cp "$fixtures/share-libcuda.so" "$root$own/libcuda.so.1"
    cp "$fixtures/share-libnvidia-ml.so" "$root$own/libnvidia-ml.so.1"
    call cover --folder "$own"
    refused "are not mounted at $own"
}

test_a_share_over_which_a_whole_cards_library_was_mounted_is_refused() {
    image
    runtime_mounts "$own"
    bind "$fixtures/image-libcuda.so" "$own/libcuda.so.1"
    call cover --folder "$own"
    refused "is not the share's but the driver's own"
}

test_libraries_are_placed_where_the_images_linker_looks() {
    image
    runtime_mounts /opt/host/lib
    bind "$fixtures/image-libcuda.so" /opt/host/lib/libnvidia-ptxjitcompiler.so.1
    finds none
    call place --folder /opt/host/lib libcuda.so.1 libnvidia-ml.so.1 libnvidia-ptxjitcompiler.so.1 libnot-there.so.1
    [ "$status" = 0 ] || fail "place ended with $status"
    finds share
    finds share A=b libnvidia-ml.so.1
    finds image A=b libnvidia-ptxjitcompiler.so.1
    finds none A=b libnot-there.so.1
    [ ! -s said ] || fail "something was said"
}

test_nothing_is_placed_where_the_images_linker_reads_the_folder_anyway() {
    image
    runtime_mounts "$own"
    before=$(mounts)
    call place --folder "$own" libcuda.so.1 libnvidia-ml.so.1
    case $own in
    /usr/*) sibling=${own#/usr} ;;
    *) sibling=/usr$own ;;
    esac
    [ "$status" = 0 ] && [ "$(mounts)" = "$before" ] && [ ! -e "$root$sibling/libcuda.so.1" ] || fail "something was placed"
}

test_what_a_driver_left_in_the_image_is_placed_over() {
    image
    : > "$root$own/libcuda.so.1"
    ln -s libnvidia-ml.so.535.261 "$root$own/libnvidia-ml.so.1"
    runtime_mounts /opt/host/lib
    call place --folder /opt/host/lib libcuda.so.1 libnvidia-ml.so.1
    finds share
    finds share A=b libnvidia-ml.so.1
}

test_a_folder_with_two_names_is_looked_at_once() {
    mkdir -p "$root/usr/lib/volume" "$root/etc" volume
    ln -s usr/lib "$root/lib"
    cp "$libc" "$root/lib/ld-musl-$(uname -m).so.1"
    echo /lib/volume > "$root/etc/ld-musl-$(uname -m).path"
    mount --bind volume "$root/usr/lib/volume"
    runtime_mounts /opt/host/lib
    call place --folder /opt/host/lib libcuda.so.1
    [ "$(wc -l < said)" = 1 ] || fail "it was said more than once"
}

test_libraries_are_placed_where_musls_linker_looks() {
    mkdir -p "$root/lib" "$root/etc" "$root/opt/musl"
    cp "$libc" "$root/lib/ld-musl-$(uname -m).so.1"
    runtime_mounts /usr/lib/host
    call place --folder /usr/lib/host libcuda.so.1
    is_shares /lib/libcuda.so.1 libcuda
    printf '/nowhere\n/opt/musl:/lib\n' > "$root/etc/ld-musl-$(uname -m).path"
    call place --folder /usr/lib/host libcuda.so.1
    is_shares /opt/musl/libcuda.so.1 libcuda
    [ ! -e "$root/nowhere" ] || fail "a folder was made"
}

test_musls_own_folders_are_covered() {
    mkdir -p "$root/etc"
    echo /srv/musl > "$root/etc/ld-musl-$(uname -m).path"
    image_has libcuda /srv/musl/libcuda.so.1
    runtime_mounts /usr/lib
    hook_covers /usr/lib
    is_shares /srv/musl/libcuda.so.1 libcuda
}

test_nothing_is_made_in_a_volume() {
    image
    runtime_mounts /opt/host/lib
    mkdir volume
    cp "$root$own"/* volume/
    mount --bind volume "$root$own"
    call place --folder /opt/host/lib libcuda.so.1
    [ "$status" = 0 ] || fail "place ended with $status"
    [ ! -e volume/libcuda.so.1 ] || fail "a file was made in the volume"
    grep -q 'no folder of the image' said || fail "it was not said why"
}

test_links_that_lead_out_of_the_root_are_meant_inside_of_it() {
    image
    mkdir -p outside "$root/usr/local/cuda" "$root/usr/local/cuda-2"
    cp "$fixtures/image-libcuda.so" outside/libcuda.so.1
    image_has libcuda "$PWD/outside/libcuda.so.1"
    image_has libcuda /inside/libcuda.so.1
    ln -s "$PWD/outside" "$root/usr/local/cuda/compat"
    ln -s ../../../../../../../../../../../../../inside "$root/usr/local/cuda-2/compat"
    mkdir -p "$root/srv"
    ln -s "../../../../../../../../../../..$PWD/outside/libcuda.so.1" "$root/srv/libcuda.so.1"
    with_variable LD_LIBRARY_PATH=/srv
    runtime_mounts "$own"
    hook_covers "$own"
    cmp -s "$fixtures/image-libcuda.so" outside/libcuda.so.1 || fail "a file outside of the root was covered"
    is_shares "$PWD/outside/libcuda.so.1" libcuda
    is_shares /inside/libcuda.so.1 libcuda
    finds share LD_LIBRARY_PATH=/srv
}

test_a_library_folder_of_the_image_that_leads_out_gets_no_file_outside() {
    image
    mkdir outside
    mv "$root$own" "$root/moved"
    mkdir -p "$root$PWD"
    ln -s "$PWD/outside" "$root$own"
    mv "$root/moved" "$root$PWD/outside"
    runtime_mounts /opt/host/lib
    call place --folder /opt/host/lib libcuda.so.1
    [ -z "$(ls -A outside)" ] || fail "a file was made outside of the root"
    is_shares "$PWD/outside/libcuda.so.1" libcuda
}

test_a_link_that_leads_nowhere_outside_gets_no_file_there() {
    image
    mkdir outside
    ln -s "$PWD/outside/made" "$root$own/libcuda.so.1"
    runtime_mounts /opt/host/lib
    call place --folder /opt/host/lib libcuda.so.1
    [ "$status" = 0 ] || fail "place ended with $status"
    [ -z "$(ls -A outside)" ] || fail "a file was made outside of the root"
}

test_loops_and_long_names_do_no_harm() {
    image
    mkdir -p "$root/srv"
    ln -s libcuda.so.1 "$root/srv/libcuda.so.1"
    ln -s loop "$root/srv/loop"
    ln -s /srv "$root/usr/local/cuda-loop" 2> /dev/null || { mkdir -p "$root/usr/local" && ln -s /srv "$root/usr/local/cuda-loop"; }
    long=$(printf '%05000d' 0)
    with_variable "LD_LIBRARY_PATH=/srv:/srv/loop:/srv/loop/x:/$long:$(printf '/srv/..%.0s' $(seq 500)):relative/$long"
    runtime_mounts "$own"
    hook_covers "$own"
    finds share
}

test_fifos_folders_and_devices_are_no_libraries() {
    image
    mkdir -p "$root/srv/libcuda.so.2" "$root/etc"
    mkfifo "$root/srv/libcuda.so.1" "$root/etc/ld.so.conf" "$root/etc/ld.so.cache"
    with_variable LD_LIBRARY_PATH=/srv:/srv/libcuda.so.1
    runtime_mounts "$own"
    hook_covers "$own"
    rm "$root/etc/ld.so.cache" # the machine's linker would wait at it
    finds share
}

test_a_library_behind_a_link_of_proc_is_refused() {
    image
    image_has libcuda /srv/libcuda.so.1
    mkdir -p "$root/proc" "$root/usr/local/cuda/compat"
    mount --rbind /proc "$root/proc"
    ln -s /proc/self/root/srv/libcuda.so.1 "$root/usr/local/cuda/compat/libcuda.so.1"
    runtime_mounts "$own"
    call cover --folder "$own"
    refused '/usr/local/cuda/compat/libcuda.so.1 of the image leads through a link of /proc'
}

test_a_library_folder_behind_a_link_of_proc_is_refused() {
    image
    mkdir -p "$root/proc"
    mount --rbind /proc "$root/proc"
    with_variable LD_LIBRARY_PATH=/proc/self/root/srv
    runtime_mounts "$own"
    call cover --folder "$own"
    refused 'the library folder /proc/self/root/srv leads through a link of /proc'
}

test_an_endless_configuration_is_refused() {
    image
    mkdir -p "$root/etc"
    head -c 2000000 /dev/zero | tr '\0' '#' > "$root/etc/ld.so.conf"
    runtime_mounts "$own"
    call cover --folder "$own"
    refused 'ld.so.conf of the image is larger than'
    echo 'include /etc/ld.so.conf' > "$root/etc/ld.so.conf"
    call cover --folder "$own"
    refused 'includes files more than'
    i=0
    while [ $i -lt 2000 ]; do
        echo "/srv/$i"
        i=$((i + 1))
    done > "$root/etc/ld.so.conf"
    call cover --folder "$own"
    refused 'library folders'
}

test_a_name_cannot_forge_a_line_of_the_log() {
    image
    mkdir -p "$root/proc"
    mount --rbind /proc "$root/proc"
    with_variable 'LD_LIBRARY_PATH=/proc/self/root/\nforged \u001b[2J'
    runtime_mounts "$own"
    call cover --folder "$own"
    refused 'leads through'
    [ "$(wc -l < said)" = 1 ] || fail "more than one line"
    if tr -d '\n' < said | LC_ALL=C grep -q '[[:cntrl:]]'; then
        fail "a control character was written"
    fi
}

test_an_image_cannot_have_much_said() {
    image
    mkdir -p "$root/proc" "$root/srv/glibc-hwcaps"
    mount --rbind /proc "$root/proc"
    # shellcheck disable=SC2046
    ln -s -t "$root/srv/glibc-hwcaps" $(seq -f '/proc/self/root/%.0f' 1 3000)
    with_variable "LD_LIBRARY_PATH=/srv$(printf ':$%.0s' $(seq 3000))"
    runtime_mounts "$own"
    call cover --folder "$own"
    refused 'glibc-hwcaps/[0-9]* leads through a link of /proc'
    grep -q 'there is more of this kind' said || fail "it was not said that there is more"
    [ "$(wc -l < said)" -lt 50 ] || fail "$(wc -l < said) lines were said"
}

test_a_state_that_is_none_is_refused() {
    image
    runtime_mounts "$own"
    for state in '' '{}' '[]' '{"bundle": 1}' '{"bundle": "relative"}' '{"bundle": "/nowhere"}' '{"bundle": "'"$PWD"'"}'; do
        status=0
        # shellcheck disable=SC2086
        printf '%s' "$state" | "$hook" cover --folder "$own" $options > said 2>&1 || status=$?
        refused 'bundle\|config.json'
        printf '%s' "$state" | "$hook" place --folder "$own" libcuda.so.1 $options > said 2>&1 || fail "place must never fail"
    done
    for text in '' '{' '{"root": {}}' '{"root": {"path": "nowhere"}}' '{"process": {"env": 1}, "root": {"path": "rootfs"}}'; do
        printf '%s' "$text" > config.json
        status=0
        # shellcheck disable=SC2086
        printf '{"bundle": "%s"}' "$PWD" | "$hook" cover --folder "$own" $options > said 2>&1 || status=$?
        refused 'config.json\|cannot be opened'
    done
}

# A link of the image leads to a file through which root of a container would rule the node. Runtimes make that file's path
# read-only, but only after the hook.
test_a_file_of_the_kernel_is_never_placed_elsewhere() {
    image
    mkdir -p "$root/proc"
    mount --rbind /proc "$root/proc"
    runtime_mounts /opt/host/lib
    ln -s /proc/sys/kernel/core_pattern "$root/opt/host/lib/libcuda.so.535.261.03"
    call place --folder /opt/host/lib libcuda.so.1 libcuda.so.535.261.03
    [ "$status" = 0 ] || fail "place ended with $status"
    is_shares "$own/libcuda.so.1" libcuda
    [ ! -e "$root$own/libcuda.so.535.261.03" ] || fail "the kernel's file is in the library folder"
}

test_a_file_of_the_kernel_is_no_library_of_a_compat_folder() {
    image
    compat_folder 580.65.06
    mkdir -p "$root/proc"
    mount --rbind /proc "$root/proc"
    ln -s /proc/sys/kernel/core_pattern "$root/usr/local/cuda/compat/libnvidia-nvvm.so.4"
    runtime_mounts_a_driver "$own"
    behind_is 535.261.03 image
    [ ! -e "$root$own/libnvidia-nvvm.so.4" ] || fail "the kernel's file is in the library folder"
}

test_nothing_is_mounted_over_a_file_of_the_kernel() {
    image
    compat_folder 580.65.06
    image_has ptxjit /usr/local/cuda/compat/libnvidia-nvvm.so.4
    mkdir -p "$root/proc"
    mount --rbind /proc "$root/proc"
    ln -s /proc/sys/kernel/hostname "$root$own/libnvidia-nvvm.so.4"
    ln -s /proc/sys/kernel/ostype "$root$own/libcuda.so.9"
    runtime_mounts_a_driver "$own"
    call cover --folder "$own" --driver 535.261.03
    [ "$status" = 0 ] || fail "cover ended with $status"
    cmp -s /proc/sys/kernel/hostname "$root/proc/sys/kernel/hostname" || fail "an image's file lies over the kernel's"
    cmp -s /proc/sys/kernel/ostype "$root/proc/sys/kernel/ostype" || fail "a share's library lies over the kernel's file"
    finds share
}

test_no_library_of_the_image_is_mounted_over_the_quota() {
    image
    compat_folder 580.65.06
    image_has ptxjit /usr/local/cuda/compat/libnvidia-nvvm.so.4
    mkdir -p quota "$root/etc/partita/shares/key"
    echo 'memory 1024' > quota/quota
    mount --bind quota "$root/etc/partita/shares/key"
    mount -o remount,bind,ro "$root/etc/partita/shares/key"
    ln -s /etc/partita/shares/key/quota "$root$own/libnvidia-nvvm.so.4"
    runtime_mounts_a_driver "$own"
    behind_is 535.261.03 image
    cmp -s quota/quota "$root/etc/partita/shares/key/quota" || fail "a file of the image is read as the quota"
    grep -q 'libnvidia-nvvm.so.4 of the image cannot be put into' said || fail "it was not said"
}

test_a_link_into_a_volume_is_no_library_that_the_runtime_has_mounted() {
    image
    mkdir -p volume "$root/srv"
    cp "$fixtures/image-libcuda.so" volume/libcuda.so.535.1
    mount --bind volume "$root/srv"
    runtime_mounts /opt/host/lib
    ln -s /srv/libcuda.so.535.1 "$root/opt/host/lib/libcuda.so.535.1"
    call place --folder /opt/host/lib libcuda.so.1 libcuda.so.535.1
    is_shares "$own/libcuda.so.1" libcuda
    [ ! -e "$root$own/libcuda.so.535.1" ] || fail "a file of a volume was placed"
}

# The runtime makes the root read-only after the hook.
test_a_compat_library_of_a_read_only_root_cannot_be_written_where_it_is_put() {
    image
    compat_folder 580.65.06
    image_has ptxjit /usr/local/cuda/compat/libnvidia-nvvm.so.4
    runtime_mounts_a_driver "$own"
    mount --rbind "$root" "$root"
    cd .
    behind_is 535.261.03 image
    mount -o remount,bind,ro "$root"
    for library in /usr/lib/partita/libcuda-real.so.1 "$own/libnvidia-nvvm.so.4"; do
        if (echo broken >> "$root$library") 2> /dev/null; then
            fail "$library can be written"
        fi
    done
}

test_an_image_of_countless_libraries_is_refused() {
    image
    mkdir -p "$root/srv"
    (cd "$root/srv" && seq -f 'libcuda.so.%.0f' 1 6000 | xargs touch)
    with_variable LD_LIBRARY_PATH=/srv
    runtime_mounts "$own"
    call cover --folder "$own"
    refused 'hold more than 1024 files'
    [ "$(mounts)" -lt 1500 ] || fail "$(mounts) mounts were made"
}

# A file system whose server never answers: who asks it can be killed, but no handler of a signal runs.
test_a_library_folder_that_does_not_answer_ends_in_time() {
    image
    mkdir -p "$root/srv"
    runtime_mounts "$own"
    if ! (exec 7<> /dev/fuse) 2> /dev/null; then
        echo "there is no FUSE here"
        exit 77
    fi
    exec 7<> /dev/fuse
    mount -i -t fuse -o fd=7,rootmode=40000,user_id=0,group_id=0 none "$root/srv"
    with_variable LD_LIBRARY_PATH=/srv
    call cover --folder "$own" --seconds 1
    refused 'took too long'
    config
    # shellcheck disable=SC2086
    printf '{"bundle": "%s"}' "$PWD" | timeout 60 "$hook" place --folder /srv libcuda.so.1 --seconds 1 $options > said 2>&1 ||
        fail "place must never fail"
}

test_an_image_that_takes_much_processor_time_is_refused() {
    image
    mkdir "$root/large"
    (cd "$root/large" && seq -f 'file%.0f' 1 40000 | xargs touch)
    path=/large
    folders=$path
    while [ ${#path} -lt 1900 ]; do
        path=$path/.
        folders=$folders:$path
    done
    with_variable "LD_LIBRARY_PATH=$folders"
    runtime_mounts "$own"
    call cover --folder "$own" --seconds 60
    refused 'of processor time'
}

test_a_file_system_that_does_not_answer_ends_in_time() {
    image
    runtime_mounts "$own"
    mkfifo state
    status=0
    # shellcheck disable=SC2086
    timeout 60 "$hook" cover --folder "$own" --seconds 1 $options <> state > said 2>&1 || status=$?
    refused 'took too long'
}

test_usage_is_told() {
    "$hook" --help | grep -q '^usage: partita-cdi-hook cover' || fail "no help"
    for arguments in '' cover 'cover --folder relative' 'cover --folder / more' 'place --folder /' 'dance --folder /' 'cover --folder / --seconds 0' 'place --folder / --driver 1.2 x'; do
        status=0
        # shellcheck disable=SC2086
        "$hook" $arguments < /dev/null > said 2>&1 || status=$?
        [ "$status" = 2 ] || fail "'$arguments' ended with $status"
    done
}

"test_$name"
