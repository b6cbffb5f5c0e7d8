# Finds Eigen's headers and defines Eigen3::Eigen, also where the package brings no CMake configuration.
find_path(Eigen3Headers_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3)
mark_as_advanced(Eigen3Headers_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Eigen3Headers REQUIRED_VARS Eigen3Headers_INCLUDE_DIR)
if(Eigen3Headers_FOUND AND NOT TARGET Eigen3::Eigen)
  add_library(Eigen3::Eigen INTERFACE IMPORTED)
  set_target_properties(Eigen3::Eigen PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Eigen3Headers_INCLUDE_DIR}")
endif()
