# Installs the headers, the library and what find_package(tern) reads.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tern)

install(DIRECTORY include/tern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS tern tern_compiled EXPORT tern)
install(EXPORT tern NAMESPACE tern:: FILE ternTargets.cmake DESTINATION ${package_dir})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ternConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/dependencies.cmake cmake/compiled_options.cmake cmake/FindDNNL.cmake cmake/FindLMDB.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ternConfigVersion.cmake
        DESTINATION ${package_dir})
# A oneDNN that was fetched is installed, too: tern::compiled runs with no older one.
if(tern_fetched_onednn)
  install(DIRECTORY ${tern_fetched_onednn}/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/tern/onednn USE_SOURCE_PERMISSIONS)
  set_target_properties(tern_compiled PROPERTIES INSTALL_RPATH "$ORIGIN/tern/onednn/lib")
  set(tern_pc_includes " -isystem \${libdir}/tern/onednn/include")
  set(tern_pc_onednn " -L\${libdir}/tern/onednn/lib -Wl,-rpath,\${libdir}/tern/onednn/lib")
endif()
# pkg-config: `tern` is the headers alone, `tern-compiled` the library. A path relative to the file stays right where an installation is moved.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH tern_prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(tern_pc_name tern)
configure_file(cmake/tern.pc.in tern.pc @ONLY)
set(tern_pc_name tern-compiled)
set(tern_pc_which ", compiled as a library")
set(tern_pc_library " -L\${libdir} -ltern")
set(tern_pc_definitions " -DTERN_COMPILED")
if(NOT tern_any_processor)
  string(APPEND tern_pc_definitions " -DTERN_SAME_OPTIONS")
endif()
configure_file(cmake/tern.pc.in tern-compiled.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tern.pc ${CMAKE_CURRENT_BINARY_DIR}/tern-compiled.pc DESTINATION ${pkgconfig_dir})
install(FILES cmake/package.cmake DESTINATION ${package_dir} RENAME ternConfig.cmake)

# `cpack -G DEB` in the build folder makes the Debian package libtern-dev.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_CONTACT "The tern authors")
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEBIAN_PACKAGE_NAME libtern-dev)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++ (>= 4:12) | g++-12 | clang-16, zlib1g-dev, libeigen3-dev")
  if(NOT tern_fetched_onednn)
    string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libdnnl-dev")
  endif()
  include(CPack)
endif()
