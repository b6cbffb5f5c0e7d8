# What tern::tern and the components need: for tern's own build and, installed, for find_package(tern).
set(tern_components native images lmdb mpi)

# tern_need(CALLED PACKAGE OPTION...): find_package; what is not found goes to the list tern_lacks.
macro(tern_need called package)
  find_package(${package} ${ARGN} ${quiet})
  if(NOT ${package}_FOUND)
    list(APPEND tern_lacks "${called}")
  endif()
endmacro()

# tern_find_dependencies(FOLDER...): what tern::tern needs, also in these folders; tern_lacks is what was not found, tern_onednn oneDNN's major
# version. A function, so that no variable of CMake's modules reaches a project.
function(tern_find_dependencies)
  list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  list(APPEND CMAKE_PREFIX_PATH ${ARGN})
  set(tern_lacks)
  set(quiet)
  if(tern_FIND_QUIETLY)
    set(quiet QUIET)
  endif()
  if((CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12) OR
     (CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16))
    set(version "${CMAKE_CXX_COMPILER} is version ${CMAKE_CXX_COMPILER_VERSION}")
    list(APPEND tern_lacks "g++ 12 or clang 16 (${version}, -DCMAKE_CXX_COMPILER names another)")
  endif()
  set(tern_no_onednn3 "; pip has 3.2: name in CMAKE_PREFIX_PATH where onednn-cpu-gomp and onednn-devel-cpu-gomp 2023.2.0 are installed")
  if(TERN_FETCH_ONEDNN)
    tern_fetch_onednn()
    set(tern_fetched_onednn ${tern_fetched_onednn} PARENT_SCOPE)
  endif()
  tern_need("oneDNN 2.2 or newer (Debian: libdnnl-dev)" DNNL 2.2 MODULE)
  string(REGEX MATCH "^[0-9]+" tern_onednn "${DNNL_VERSION}")
  set(tern_onednn ${tern_onednn} PARENT_SCOPE)
  if(DNNL_FOUND AND DNNL_VERSION VERSION_LESS 3 AND NOT quiet)
    message(STATUS "tern: oneDNN ${DNNL_VERSION} is slow in bfloat16${tern_no_onednn3}")
  endif()
  tern_need("zlib (Debian: zlib1g-dev)" ZLIB)
  tern_need("Eigen (Debian: libeigen3-dev)" Eigen3 CONFIG)
  tern_need("OpenMP for ${CMAKE_CXX_COMPILER} (Debian: libomp-dev of clang's version)" OpenMP COMPONENTS CXX)
  list(JOIN tern_lacks ", " tern_lacks)
  set(tern_lacks ${tern_lacks} PARENT_SCOPE)
endfunction()

# Defines tern::NAME if all that it needs is found; tern_lacks is what was not.
function(tern_add_component name)
  list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(tern_lacks)
  set(libraries)
  set(quiet QUIET)
  if(name STREQUAL images)  # for tern/data/image_folder.hpp
    tern_need("libjpeg (Debian: libjpeg-dev)" JPEG)
    tern_need("libpng (Debian: libpng-dev)" PNG)
    set(libraries JPEG::JPEG PNG::PNG)
  elseif(name STREQUAL lmdb)  # for tern/data/records/lmdb_writer.hpp
    tern_need("liblmdb (Debian: liblmdb-dev)" LMDB MODULE)
    set(libraries LMDB::lmdb)
  elseif(name STREQUAL mpi)  # for tern/distributed/mpi.hpp
    set(MPI_CXX_SKIP_MPICXX ON)  # MPI's C++ functions, which MPI 3 has removed
    tern_need("MPI (Debian: libopenmpi-dev)" MPI COMPONENTS CXX)
    set(libraries MPI::MPI_CXX)
  endif()
  list(JOIN tern_lacks ", " tern_lacks)
  set(tern_lacks ${tern_lacks} PARENT_SCOPE)
  if(tern_lacks OR TARGET tern::${name})
    return()
  endif()
  add_library(tern::${name} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(tern::${name} INTERFACE tern::tern ${libraries})
  if(name STREQUAL native)  # for programs that run where they are built
    target_compile_options(tern::native INTERFACE -march=native)
  endif()
endfunction()
