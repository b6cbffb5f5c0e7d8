"""The list of the names that namespace tern holds: types, functions, variables and namespaces in it."""

import re

from checks import FLAGS, GXX, ROOT, mpi_flags, run
from declared_ops import declarations, scope_of

# What says nothing about a declaration's name: attributes, and specifiers with parentheses.
SPECIFIER = re.compile(r"\[ \[ .*? \] \]|(?:__attribute__|alignas|noexcept|explicit) \( (?:[^()]|\((?:[^()]|\([^()]*\))*\))* \)")
WORD = re.compile(r"[A-Za-z_]\w*")


def after_brackets(tokens, at):
    """The position after the bracket that closes the one at this position."""
    opening, closing = tokens[at], {"<": ">", "(": ")"}[tokens[at]]
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] == opening) - (tokens[i] == closing)
        if depth == 0:
            return i + 1
    return len(tokens)


def name_of(declaration):
    """The name that the tokens declare, or None: a member, an operator, an instance, or nothing."""
    tokens = SPECIFIER.sub("", " ".join(declaration)).split()
    while tokens[:2] == ["template", "<"]:
        tokens = tokens[after_brackets(tokens, 1):]
    if tokens[:2] == ["requires", "("]:
        tokens = tokens[after_brackets(tokens, 1):]
    if not tokens or tokens[0] in ("template", "static_assert") or tokens[:2] in (["extern", "template"], ["using", "namespace"]):
        return None
    if "operator" in tokens:
        return None
    if tokens[0] in ("using", "concept"):
        return [token for token in tokens[:(tokens + ["="]).index("=")] if WORD.fullmatch(token)][-1]
    at, name = 0, None
    while at < len(tokens):
        token = tokens[at]
        if token in ("struct", "class", "union", "enum"):
            words = [word for word in tokens[at + 1:] if word != "class"]
            return words[0] if words[1:2] != [":"] or words[2:3] != [":"] else None
        if token in ("=", "("):
            break
        if token == "<":
            at = after_brackets(tokens, at)
            continue
        if WORD.fullmatch(token):
            name = None if tokens[at - 2:at] == [":", ":"] else token
        at += 1
    return name


def declared_names(preprocessed):
    """{name: the header that declares it} of what tern holds; namespaces end with ::."""
    names = {}
    for file, inside, declaration in declarations(preprocessed):
        if "/tern/" not in file:
            continue
        if "namespace" in declaration and "using" not in declaration:
            path = [*inside, *filter(None, scope_of(declaration).split("::"))]
            if path[:1] == ["tern"] and len(path) > 1:
                names.setdefault(path[1] + "::", file)
        elif inside == ["tern"]:
            name = name_of(declaration)
            if name:
                names.setdefault(name, file)
    return names


def preprocessed(*flags):
    """All headers, as the preprocessor leaves them for a program with the compiled library."""
    headers = "".join(f"#include <{path.relative_to(ROOT / 'include')}>\n" for path in sorted((ROOT / "include").rglob("*.hpp")))
    command = [GXX, *FLAGS, *mpi_flags("compile"), "-fopenmp", "-DTERN_COMPILED", "-E", *flags, "-x", "c++", "-"]
    return run(command, input=headers).stdout


def public_names():
    """Those of all headers."""
    return declared_names(preprocessed())


def public_macros():
    """The macros of tern's that are defined after all headers."""
    return set(re.findall(r"^#define (TERN_\w+)", preprocessed("-dM"), re.MULTILINE))
