"""Reads the declarations of a C header with pycparser: functions, the members of records, named constants."""

import os
import re
import subprocess
import tempfile

from pycparser import c_ast, c_parser

# The system's headers as far as the API headers need them: types only.
SYSTEM = {
    "stdint.h": """typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t; typedef long int64_t; typedef unsigned long uint64_t;
typedef unsigned long uintptr_t; typedef long intptr_t;""",
    "stddef.h": "typedef unsigned long size_t;",
    "stdlib.h": "#include <stddef.h>",
    "stdbool.h": "typedef _Bool bool;",
}


def preprocessed(compiler, source, folders, defines):
    with tempfile.TemporaryDirectory() as fake:
        for name, text in SYSTEM.items():
            with open(os.path.join(fake, name), "w") as file:
                file.write(f"#ifndef S_{name[:-2]}\n#define S_{name[:-2]}\n{text}\n#endif\n")
        command = [compiler, "-E", "-P", "-nostdinc", "-I", fake, "-D__attribute__(x)=", "-x", "c", "-"]
        command += [f"-I{folder}" for folder in folders] + [f"-D{define}" for define in defines]
        return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


class Declarations:
    """What one header, with all that it includes, declares."""

    def __init__(self, text):
        self.typedefs, self.functions, self.records, self.constants = {}, {}, {}, []
        for node in c_parser.CParser().parse(text).ext:
            if isinstance(node, c_ast.Typedef):
                self.typedefs[node.name] = node.type
                record = getattr(node.type, "type", None)
                if isinstance(record, (c_ast.Struct, c_ast.Union)) and not record.name and record.decls:
                    self.records[node.name] = record
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
                self.functions[node.name] = node.type
            _Records(self).visit(node)

    def canonical(self, type_):
        """A type as the calling convention sees it: typedefs resolved, enumerations as int, without const and names."""
        if isinstance(type_, (c_ast.Typename, c_ast.Decl)):
            return self.canonical(type_.type)
        if isinstance(type_, c_ast.PtrDecl):
            return self.canonical(type_.type) + "*"
        if isinstance(type_, c_ast.ArrayDecl):
            return self.canonical(type_.type) + "*"  # as a parameter
        if isinstance(type_, c_ast.FuncDecl):
            return f"{self.canonical(type_.type)}({', '.join(self.parameters(type_))})"
        inner = type_.type
        if isinstance(inner, c_ast.Enum):
            return "int"
        if isinstance(inner, (c_ast.Struct, c_ast.Union)):
            return inner.name or "anonymous"
        name = " ".join(inner.names)
        if name in self.records:
            return name  # of an unnamed record
        if name in self.typedefs:
            return self.canonical(self.typedefs[name])
        words = sorted(word for word in inner.names if word not in ("signed", "const"))
        unsigned = "unsigned" in words
        rest = [word for word in words if word not in ("unsigned", "int")]
        if not rest and (unsigned or "int" in words):
            return "int"  # of either sign
        if rest in (["long"], ["long", "long"]):
            return "long"
        return " ".join(rest)

    def parameters(self, function):
        given = [self.canonical(p) for p in function.args.params if not isinstance(p, c_ast.EllipsisParam)] if function.args else []
        return [] if given == ["void"] else given

    def signature(self, name):
        function = self.functions[name]
        return f"{self.canonical(function.type)} ({', '.join(self.parameters(function))})"

    def members(self, tag):
        """Paths of a record's members, those of inner records included; no bit-fields."""
        return list(self._members(self.records[tag], ""))

    def _members(self, record, prefix):
        for field in record.decls or []:
            if not isinstance(field, c_ast.Decl) or field.bitsize:
                continue
            inner = getattr(field.type, "type", None) if isinstance(field.type, c_ast.TypeDecl) else field.type
            if field.name:
                yield prefix + field.name
            if isinstance(inner, (c_ast.Struct, c_ast.Union)) and inner.decls:
                yield from self._members(inner, f"{prefix}{field.name}." if field.name else prefix)


class _Records(c_ast.NodeVisitor):
    def __init__(self, found):
        self.found = found

    def visit_Enum(self, node):
        for each in node.values.enumerators if node.values else []:
            self.found.constants.append(each.name)

    def visit_Struct(self, node):
        if node.decls and node.name:
            self.found.records[node.name] = node
        self.generic_visit(node)

    visit_Union = visit_Struct


def macros(paths, prefix):
    """Names of the object-like macros with that prefix that the files define."""
    names = []
    for path in paths:
        with open(path) as file:
            names += re.findall(rf"^#define ({prefix}\w+) ", file.read(), re.MULTILINE)
    return names
