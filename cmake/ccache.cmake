# tern's own builds go through ccache where it is installed, unless CMAKE_CXX_COMPILER_LAUNCHER says otherwise; empty, it means none.
find_program(TERN_CCACHE ccache)
mark_as_advanced(TERN_CCACHE)
if(TERN_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Without a folder that it may write, ccache fails instead of compiling.
  set(tern_probe ${CMAKE_BINARY_DIR}/CMakeFiles/tern_probe)
  execute_process(COMMAND ${TERN_CCACHE} ${CMAKE_CXX_COMPILER} -x c++ -c /dev/null -o ${tern_probe}.o
                  RESULT_VARIABLE tern_failed ERROR_VARIABLE tern_error ERROR_STRIP_TRAILING_WHITESPACE)
  # ccache takes -march=native for the same option on every processor.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null OUTPUT_FILE ${tern_probe}_native.txt)
  if(tern_failed)
    message(STATUS "tern: no ccache: ${tern_error}")
  else()
    # Relative paths are the same in each clone; errors have absolute ones all the same. The sloppiness is what ccache's manual
    # asks for with precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR} CCACHE_ABSSTDERR=1 CCACHE_EXTRAFILES=${tern_probe}_native.txt
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TERN_CCACHE})
  endif()
endif()
