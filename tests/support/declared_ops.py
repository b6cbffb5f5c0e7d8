"""The list of public ops: the function templates that headers of ops/, functional/ and linalg/ declare."""

import os
import re

from checks import FLAGS, GXX, ROOT, run

# A line marker of the preprocessor, a literal, a name, or a sign.
TOKEN = re.compile(r'^# \d+ "([^"]+)".*$|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|\w+|\S', re.MULTILINE)
NAME = re.compile(r"(?!requires|decltype)[a-z]\w*")
# A header whose functions need rows.
PUBLIC = re.compile(r"tern/(ops|functional|linalg)/([^/]+/)?[^/]+$")


def function_of(declaration):
    """The name of the function template that the tokens declare, or None."""
    if declaration[:1] != ["template"] or "delete" in declaration:
        return None
    depth, angles = 0, 0
    for before, token in zip(declaration, declaration[1:]):
        if before == "template" or angles:  # its parameters
            angles += (token == "<") - (token == ">")
        elif depth == 0 and token in ("struct", "class", "using", "concept"):
            return None
        elif token == "(" and depth == 0 and NAME.fullmatch(before):
            return before
        depth += (token in ("(", "[")) - (token in (")", "]"))
    return None


def scope_of(declaration):
    """tern::detail for namespace tern::inline avx2_openmp::detail; nothing for an inline namespace."""
    if declaration[0] == "inline":
        return ""
    written = " ".join(declaration[declaration.index("namespace") + 1:])
    return re.sub(r"\s", "", re.sub(r":\s*:\s*inline \w+", "", written))


def declared(preprocessed):
    """The function templates that headers of ops/, functional/ and linalg/ declare in tern or inside it, but for detail."""
    names, scopes, declaration, depth, ours = set(), [], [], 0, False
    for match in TOKEN.finditer(preprocessed):
        token = match[0]
        if match[1]:
            ours = bool(PUBLIC.search(os.path.normpath(match[1])))
        elif token in "()[]":
            depth += (token in "([") - (token in ")]")
            declaration.append(token)
        elif token == "{" and depth == 0 and "namespace" in declaration:
            scopes.append(scope_of(declaration))
            declaration = []
        elif token in ("{", ";") and depth == 0:
            inside = [name for scope in scopes for name in scope.split("::") if name]
            if ours and inside[:1] == ["tern"] and "{" not in inside and "detail" not in inside:
                name = function_of(declaration)
                names |= {"::".join([*inside[1:], name])} if name else set()
            declaration = []
            if token == "{":
                scopes.append("{")
        elif token == "{":
            scopes.append("(")
        elif token == "}":
            closed = scopes.pop()
            declaration = declaration if closed == "(" else []
        else:
            declaration.append(token)
    return names


def public_ops():
    """The names of all, as linalg::det."""
    headers = [ROOT / "include/tern/ops/ops.hpp", *(ROOT / "include/tern/functional").glob("*.hpp"),
               ROOT / "include/tern/linalg/linalg.hpp"]
    return set().union(*(declared(run([GXX, *FLAGS, "-fopenmp", "-DTERN_COMPILED", "-E", header]).stdout) for header in headers))
