# Finds oneDNN and defines DNNL::dnnl. A module of our own, because the configuration file that Debian's
# package brings asks for OpenCL's development files, which a CPU program has no use for.
find_path(DNNL_INCLUDE_DIR dnnl.h)
find_library(DNNL_LIBRARY dnnl)
mark_as_advanced(DNNL_INCLUDE_DIR DNNL_LIBRARY)

# The numbers stand in dnnl_version.h, in 3.x under oneapi/dnnl/.
set(DNNL_VERSION)
foreach(header oneapi/dnnl/dnnl_version.h dnnl_version.h)
  if(EXISTS "${DNNL_INCLUDE_DIR}/${header}" AND NOT DNNL_VERSION)
    file(STRINGS "${DNNL_INCLUDE_DIR}/${header}" DNNL_VERSION REGEX "#define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    list(TRANSFORM DNNL_VERSION REPLACE ".* " "")
    list(JOIN DNNL_VERSION . DNNL_VERSION)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DNNL REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR VERSION_VAR DNNL_VERSION)
if(DNNL_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION "${DNNL_LIBRARY}"
                                              INTERFACE_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}")
endif()
