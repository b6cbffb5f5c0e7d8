"""tern for Conan 2, with the system's oneDNN and zlib: the headers alone, or compiled with -o "tern/*:header_only=False".

    conan create packaging/conan

A program finds it by find_package(tern) and links tern::tern or tern::compiled."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

required_conan_version = ">=2.0"


class Tern(ConanFile):
    name = "tern"
    description = "Tensors whose place is part of their type"
    license = "MIT"
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"header_only": [True, False], "shared": [True, False]}
    default_options = {"header_only": True, "shared": False}
    implements = ["auto_header_only"]

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root, "include/tern/core/config.hpp"))
        self.version = ".".join(re.findall(r"define TERN_VERSION_[A-Z]+ (\d+)", text))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def configure(self):
        if self.options.header_only:
            del self.options.shared

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("tern supports Linux alone")

    def system_requirements(self):
        Apt(self).install(["libdnnl-dev", "zlib1g-dev"], check=True)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        if not self.options.header_only:
            toolchain = CMakeToolchain(self)
            for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
                toolchain.cache_variables[f"TERN_BUILD_{part}"] = False
            toolchain.cache_variables["TERN_FETCH_ONEDNN"] = False
            toolchain.generate()
            CMakeDeps(self).generate()

    def build(self):
        if not self.options.header_only:
            cmake = CMake(self)
            cmake.configure()
            cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        if self.options.header_only:
            copy(self, "include/*", self.source_folder, self.package_folder)
        else:
            CMake(self).install()

    def package_info(self):
        tern = self.cpp_info.components["tern"]
        tern.libdirs = []
        tern.system_libs = ["dnnl", "z"]
        tern.cxxflags = tern.exelinkflags = tern.sharedlinkflags = ["-fopenmp"]
        if not self.options.header_only:
            compiled = self.cpp_info.components["compiled"]
            compiled.requires = ["tern"]
            compiled.libs = ["tern"]
            # What was defined depends on the processor that it was compiled for.
            compiled.defines = re.findall(r"-D(\w+)", load(self, os.path.join(self.package_folder, "lib/pkgconfig/tern-compiled.pc")))
            if self.settings.compiler == "gcc" and not self.options.shared:
                compiled.cxxflags = ["-fno-gnu-unique"]  # a plugin has its own copy of the library's variables
