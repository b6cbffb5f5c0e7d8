# Tells of each target that links tern::compiled and is compiled for newer processors than it: such a target uses the headers alone
# (core/config.hpp). Beside compiled.cmake, because an installed tern reads it too.
function(tern_tell_options folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_property(linked TARGET ${target} PROPERTY LINK_LIBRARIES)
    get_property(options TARGET ${target} PROPERTY COMPILE_OPTIONS)
    if(linked MATCHES "tern::compiled" AND "${linked};${options};${CMAKE_CXX_FLAGS}" MATCHES "(-march=[^; ]*|-mavx[^; ]*|-msse4[^; ]*|tern::native)")
      message(STATUS "tern: ${target} is compiled with ${CMAKE_MATCH_1}, so it uses the headers alone instead of tern::compiled, which chooses its "
                     "kernels when it runs; it compiles faster without ${CMAKE_MATCH_1}")
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS folders)
    tern_tell_options(${each})
  endforeach()
endfunction()

get_property(definitions TARGET tern::compiled PROPERTY INTERFACE_COMPILE_DEFINITIONS)
if(NOT TERN_SAME_OPTIONS IN_LIST definitions)
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL tern_tell_options ${CMAKE_SOURCE_DIR})
endif()
