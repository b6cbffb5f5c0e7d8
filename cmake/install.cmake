# Installs the headers, the library and what find_package(tern) reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/tern)

install(DIRECTORY include/tern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS tern tern_native EXPORT tern)
install(TARGETS tern_compiled EXPORT ternCompiled)
install(EXPORT ternCompiled NAMESPACE tern:: FILE ternCompiledTargets.cmake DESTINATION ${package_dir})
foreach(target tern_images tern_lmdb tern_mpi)
  if(TARGET ${target})
    install(TARGETS ${target} EXPORT tern)
  endif()
endforeach()
install(EXPORT tern NAMESPACE tern:: FILE ternTargets.cmake DESTINATION ${package_dir})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ternConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/ternConfig.cmake cmake/dependencies.cmake cmake/FindDNNL.cmake cmake/FindLMDB.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ternConfigVersion.cmake
        DESTINATION ${package_dir})
