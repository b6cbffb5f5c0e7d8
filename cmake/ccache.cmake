# tern's own builds go through ccache where it is installed, unless CMAKE_CXX_COMPILER_LAUNCHER says otherwise; empty, it means none.
find_program(TERN_CCACHE ccache)
mark_as_advanced(TERN_CCACHE)
if(TERN_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache takes -march=native for the same option on every processor.
  set(native ${CMAKE_BINARY_DIR}/native_macros.txt)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null OUTPUT_FILE ${native})
  # Relative paths are the same in each clone; errors have absolute ones all the same. The sloppiness is what ccache's manual
  # asks for with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR} CCACHE_ABSSTDERR=1 CCACHE_EXTRAFILES=${native}
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TERN_CCACHE})
endif()
