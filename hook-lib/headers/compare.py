#!/usr/bin/env python3
"""Compares our declarations and our list of wrappers with NVIDIA's public headers (see README.md here).

compare.py declarations|coverage|news|list|pin [--headers DIR] [--compiler CC]
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HOOK_LIB = os.path.dirname(HERE)

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("what", choices=["declarations", "coverage", "news", "list", "pin"])
parser.add_argument("--headers", default=os.path.join(HOOK_LIB, "target/outside/headers/files"), help="what fetch.sh headers fetched")
parser.add_argument("--compiler", default="cc")
arguments = parser.parse_args()

if not os.path.isdir(arguments.headers):
    print("NVIDIA's headers are not here: sh hook-lib/build.sh fetch", file=sys.stderr)
    sys.exit(1 if os.environ.get("PARTITA_REQUIRE_OUTSIDE") else 77)
sys.path.insert(0, arguments.headers)
from pycparser import c_ast  # noqa: E402
from declarations import Declarations, macros, preprocessed  # noqa: E402

NEWEST_CUDA = "nvidia/cu13/include"
# With it cuda.h renames nothing, and declares the older variants as well.
EVERY_VARIANT = "__CUDA_API_VERSION_INTERNAL"
PER_THREAD = "CUDA_API_PER_THREAD_DEFAULT_STREAM"
EXPANDED = "expanded.tsv"
# Functions that newer headers could have, and that globs of harmless.tsv match: `news` expects them to be named.
NEWS = ["cuMemcpyAllocAsync", "cuStreamLaunch", "cuGraphAddAnotherNode", "nvmlDeviceGetMemoryInfo_v9"]


def theirs(folder, header, defines):
    return Declarations(preprocessed(arguments.compiler, f"#include <{header}>\n", [os.path.join(arguments.headers, folder)], defines))


def our_headers(prefix):
    folder = os.path.join(HOOK_LIB, "include")
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(prefix))


def included(paths):
    return "".join(f'#include "{path}"\n' for path in paths)


def ours(paths):
    return Declarations(preprocessed(arguments.compiler, included(paths), [os.path.join(HOOK_LIB, "include")], []))


def agree(mine, known, name):
    """Ours may say void * for a pointer to something."""
    ours_, theirs_ = (d.parameters(d.functions[name]) for d in (mine, known))
    same = all(a == b or (a == "void*" and b.endswith("*")) for a, b in zip(ours_, theirs_))
    return same and len(ours_) == len(theirs_) and mine.canonical(mine.functions[name].type) == known.canonical(known.functions[name].type)


def compare_functions(where, mine, variants, different):
    """variants: their declarations, the first that knows a name counts. Second result: names that none of them has."""
    wrong, absent = [], []
    for name in mine.functions:
        known = next((each for each in variants if name in each.functions), None)
        if known is None:
            absent.append(name)
        elif name not in different and not agree(mine, known, name):
            wrong.append(f"{where}: {name} is {mine.signature(name)}, theirs {known.signature(name)}")
    return wrong, absent


def layout_of_ours(mine, paths, prefix, different):
    """Assertions about sizes, offsets and values, printed by a program that is compiled with our headers."""
    lines = []
    constants = [c for c in mine.constants + macros(paths, prefix) if not c.endswith("_H") and c not in different]
    for tag, record in mine.records.items():
        if tag in different:
            continue
        kind = f"{'struct' if isinstance(record, c_ast.Struct) else 'union'} {tag}" if record.name else tag
        lines.append(f'printf("_Static_assert(sizeof({kind}) == %zu, \\"size of {tag}\\");\\n", sizeof({kind}));')
        for path in mine.members(tag):
            if f"{tag}.{path}" in different:
                continue
            lines.append(f'printf("_Static_assert(offsetof({kind}, {path}) == %zu, \\"{tag}.{path}\\");\\n", offsetof({kind}, {path}));')
            lines.append(f'printf("_Static_assert(sizeof((({kind} *)0)->{path}) == %zu, \\"size of {tag}.{path}\\");\\n", sizeof((({kind} *)0)->{path}));')
    for name in constants:
        lines.append(f'printf("_Static_assert((long long)({name}) == %lldLL, \\"{name}\\");\\n", (long long)({name}));')
    program = "#include <stddef.h>\n#include <stdio.h>\n" + included(paths) + "int main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "print")
        subprocess.run([arguments.compiler, f"-I{HOOK_LIB}/include", "-w", "-x", "c", "-", "-o", binary], input=program, text=True, check=True)
        return subprocess.run([binary], capture_output=True, text=True, check=True).stdout


def compare_layout(where, folder, header, defines, assertions):
    source = f"#include <stddef.h>\n#include <{header}>\n" + assertions
    command = [arguments.compiler, "-fsyntax-only", "-w", f"-I{os.path.join(arguments.headers, folder)}", "-x", "c", "-"]
    result = subprocess.run(command + [f"-D{d}" for d in defines], input=source, capture_output=True, text=True)
    errors = [line.split("error: ", 1)[1] for line in result.stderr.splitlines() if "error: " in line]
    errors = dict.fromkeys(error for error in errors if not error.startswith("expression in static assertion"))
    return [f"{where}: {error}" for error in errors]


def read_list(name):
    """Lines `name<TAB>reason`; a name may be a glob."""
    entries = {}
    with open(os.path.join(HERE, name)) as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                key, tab, reason = line.rstrip("\n").partition("\t")
                if not tab or not reason.strip():
                    sys.exit(f"{name}:{number}: not `name<TAB>reason`")
                if key in entries:
                    sys.exit(f"{name}:{number}: {key} again")
                entries[key] = reason
    return entries


def intercepted(header, macro):
    with open(os.path.join(HOOK_LIB, "shadow", header)) as file:
        body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*)", file.read()).group(1)
    return re.findall(r"X\((\w+)\)", body)


def read_expanded():
    """The function names that globs stood for when somebody last looked: name -> glob."""
    with open(os.path.join(HERE, EXPANDED)) as file:
        pairs = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {name: glob for glob, name in pairs}


def write_expanded(expanded, order):
    lines = [f"{glob}\t{name}\n" for name, glob in sorted(expanded.items(), key=lambda pair: (order.index(pair[1]), pair[0]))]
    with open(os.path.join(HERE, EXPANDED), "w") as file:
        file.write("# The functions that the globs of harmless.tsv stand for: glob<TAB>name. Made by `compare.py pin`; what is new here was looked at.\n")
        file.writelines(lines)


def compare_expanded(expanded):
    """A glob says nothing about functions that came after it."""
    known = read_expanded()
    wrong = [f"{name} is new: only {glob} in harmless.tsv matches it. Wrap it, give it a line of its own, or see that the glob's reason holds and "
             "run compare.py pin" for name, glob in expanded.items() if known.get(name) != glob]
    return wrong + [f"{EXPANDED}: {name} is no function that a glob stands for: run compare.py pin" for name in known if name not in expanded]


def coverage(news=()):
    """Every function of the newest headers is wrapped, or stands in exactly one of the lists, by its name or by a glob that was looked at."""
    plain = theirs(NEWEST_CUDA, "cuda.h", [EVERY_VARIANT])
    public = theirs(NEWEST_CUDA, "cuda.h", [])
    threads = theirs(NEWEST_CUDA, "cuda.h", [PER_THREAD])
    names = {n for each in (plain, public, threads) for n in each.functions if n.startswith("cu")}
    nvml = {n for n in theirs(NEWEST_CUDA, "nvml.h", ["NVML_NO_UNVERSIONED_FUNC_DEFS"]).functions if n.startswith("nvml")}
    names |= nvml | {n for n in theirs(NEWEST_CUDA, "nvml.h", []).functions if n.startswith("nvml")}
    names |= set(news)
    wrapped = set(intercepted("cuda/cuda_driver.h", "CUDA_INTERCEPTED")) | set(intercepted("nvml/nvml_driver.h", "NVML_INTERCEPTED"))
    lists = {name: read_list(name) for name in ("harmless.tsv", "open.tsv")}
    wrong, used, expanded, counts = [], set(), {}, {"wrapped": 0, "harmless.tsv": 0, "open.tsv": 0}
    for name in sorted(names):
        said = []
        for file, entries in lists.items():
            exact = [key for key in entries if key == name]
            matching = exact or [key for key in entries if "*" in key and fnmatch.fnmatchcase(name, key)]
            if name not in wrapped:
                used.update((file, key) for key in matching)
            if matching:
                said.append((file, bool(exact)))
        said = [each for each in said if each[1]] or said  # a name goes before a glob
        if name in wrapped:
            counts["wrapped"] += 1
        elif not said:
            wrong.append(f"{name} is neither wrapped, nor in harmless.tsv, nor in open.tsv (name<TAB>reason)")
        elif len(said) > 1 and said[0][1]:
            wrong.append(f"{name} is in harmless.tsv and in open.tsv")
        else:
            counts[said[-1][0]] += 1  # what is open goes before what is harmless
            if not said[0][1] and said[-1][0] == "harmless.tsv":
                expanded[name] = next(key for key in lists["harmless.tsv"] if fnmatch.fnmatchcase(name, key))
            if arguments.what == "list":
                print(f"{said[-1][0]}\t{name}")
    for file, entries in lists.items():
        wrong += [f"{file}: {key} matches no function, or only wrapped ones: take it out" for key in entries if (file, key) not in used]
    if arguments.what == "pin":
        write_expanded(expanded, list(lists["harmless.tsv"]))
    wrong += compare_expanded(expanded)
    print(f"{len(names)} functions: {counts['wrapped']} wrapped, {counts['harmless.tsv']} harmless, {counts['open.tsv']} open", file=sys.stderr)
    return wrong


def declarations():
    different = read_list("differences.tsv")
    sets = [
        ("cuda.h of CUDA 13", "cuda_", "cuda.h", "CU", NEWEST_CUDA, [[EVERY_VARIANT], [PER_THREAD], []]),
        ("cuda.h of CUDA 12", "cuda_", "cuda.h", "CU", "nvidia/cuda_runtime/include", [[EVERY_VARIANT], [PER_THREAD], []]),
        ("nvml.h", "nvml_", "nvml.h", "NVML", NEWEST_CUDA, [["NVML_NO_UNVERSIONED_FUNC_DEFS"], []]),
    ]
    wrong, absent, counts = [], {}, []
    for where, prefix, header, constant, folder, defines in sets:
        paths = our_headers(prefix)
        mine = ours(paths)
        skipped = {name for name, reason in different.items() if not reason.startswith("not in ") or reason.startswith(f"not in {where}")}
        found, missing = compare_functions(where, mine, [theirs(folder, header, each) for each in defines], skipped)
        wrong += found + compare_layout(where, folder, header, defines[0], layout_of_ours(mine, paths, constant, skipped))
        absent[header] = set(missing) & absent.get(header, set(missing))
        counts.append(f"{len(mine.functions)} functions and {len(mine.records)} records with {where}")
    for header, names in absent.items():
        wrong += [f"{name} is not in {header}: say in differences.tsv where its declaration comes from" for name in sorted(names - set(different))]
    print("compared " + "; ".join(counts), file=sys.stderr)
    return wrong


def news():
    """What a newer header brings is named, also where a glob matches it."""
    said = coverage(NEWS)
    return [f"{name} would not be named" for name in NEWS if not any(each.startswith(name + " ") for each in said)]


wrong = declarations() if arguments.what == "declarations" else news() if arguments.what == "news" else coverage()
for each in wrong:
    print(each, file=sys.stderr)
sys.exit(1 if wrong else 0)
