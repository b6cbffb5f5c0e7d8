"""The list of public ops: the function templates that headers of ops/, functional/ and linalg/ declare."""

import os
import re

from checks import FLAGS, GXX, ROOT, run

# A line marker of the preprocessor, a literal (also a raw one, or a number with separators), a name, or a sign.
TOKEN = re.compile(r'^# \d+ "([^"]+)".*$|R"(?P<end>\w*)\((?s:.*?)\)(?P=end)"|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|\d[\w\']*|\w+|\S', re.MULTILINE)
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
    """tern::detail for namespace tern::detail; nothing for an inline namespace."""
    return "" if declaration[0] == "inline" else "".join(declaration[declaration.index("namespace") + 1:])


def declarations(preprocessed):
    """(file, the namespaces around it, its tokens) of each declaration in a namespace, and of each namespace that is opened."""
    scopes, declaration, depth, file = [], [], 0, ""
    for match in TOKEN.finditer(preprocessed):
        token = match[0]
        if match[1]:
            file = os.path.normpath(match[1])
        elif token in "()[]":
            depth += (token in "([") - (token in ")]")
            declaration.append(token)
        elif token in ("{", ";") and depth == 0:
            inside = [name for scope in scopes for name in scope.split("::") if name]
            if "{" not in inside and declaration:
                yield file, inside, declaration
            if token == "{":
                scopes.append(scope_of(declaration) if "namespace" in declaration else "{")
            declaration = []
        elif token == "{":
            scopes.append("(")
        elif token == "}":
            closed = scopes.pop()
            declaration = declaration if closed == "(" else []
        else:
            declaration.append(token)


def declared(preprocessed):
    """The function templates that headers of ops/, functional/ and linalg/ declare in tern or inside it, but for detail."""
    names = set()
    for file, inside, declaration in declarations(preprocessed):
        if PUBLIC.search(file) and inside[:1] == ["tern"] and "detail" not in inside:
            name = function_of(declaration)
            names |= {"::".join([*inside[1:], name])} if name else set()
    return names


def public_ops():
    """The names of all, as linalg::det."""
    headers = [ROOT / "include/tern/ops/ops.hpp", *(ROOT / "include/tern/functional").glob("*.hpp"),
               *(ROOT / f"include/tern/linalg/{name}.hpp" for name in ("linalg", "lstsq"))]
    return set().union(*(declared(run([GXX, *FLAGS, "-fopenmp", "-DTERN_COMPILED", "-E", header]).stdout) for header in headers))
