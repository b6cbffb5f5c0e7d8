# Installs the headers, the library and what find_package(tern) reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/tern)

install(DIRECTORY include/tern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS tern native EXPORT tern)
install(TARGETS compiled EXPORT ternCompiled)
install(EXPORT ternCompiled NAMESPACE tern:: FILE ternCompiledTargets.cmake DESTINATION ${package_dir})
if(TARGET picture_files)
  install(TARGETS picture_files EXPORT tern)
endif()
foreach(target lmdb mpi)
  if(TARGET ${target})
    install(TARGETS ${target} EXPORT tern)
  endif()
endforeach()
install(EXPORT tern NAMESPACE tern:: FILE ternTargets.cmake DESTINATION ${package_dir})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ternConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/ternConfig.cmake cmake/dependencies.cmake cmake/compiled_options.cmake cmake/FindDNNL.cmake cmake/FindLMDB.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ternConfigVersion.cmake
        DESTINATION ${package_dir})
