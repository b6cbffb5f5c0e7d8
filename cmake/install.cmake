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
install(FILES cmake/package.cmake DESTINATION ${package_dir} RENAME ternConfig.cmake)
