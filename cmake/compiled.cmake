# tern::compiled: all functions that are not templates, and the instances that most programs use, compiled once; static, or shared with
# BUILD_SHARED_LIBS. Its kernels do not depend on the program's options: on x86-64 they exist for AVX2 and
# AVX-512 too, and the best are chosen when the program starts.
# Where all files are compiled for newer processors, so is the library, and it needs no further kernels.
set(tern_any_processor OFF)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND NOT CMAKE_CXX_FLAGS MATCHES "-march=|-mavx|-msse4")
  set(tern_any_processor ON)
endif()
add_library(tern_compiled include/tern/tern.cpp)
if(NOT TERN_INSTALL)
  set_target_properties(tern_compiled PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
add_library(tern::compiled ALIAS tern_compiled)
set_target_properties(tern_compiled PROPERTIES
  EXPORT_NAME compiled OUTPUT_NAME tern VERSION ${tern_version} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON
  TERN_ONEDNN "${tern_onednn}" EXPORT_PROPERTIES TERN_ONEDNN)
target_link_libraries(tern_compiled PUBLIC tern)
target_compile_definitions(tern_compiled INTERFACE TERN_COMPILED)
if(NOT tern_any_processor)
  target_compile_definitions(tern_compiled PUBLIC TERN_SAME_OPTIONS)
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  target_compile_options(tern_compiled PRIVATE -O2)
endif()
# A plugin that links the static library has a state of its own. g++ would give all plugins of a process one copy of each inline variable,
# such as the tables of a gradient's functions, and so make one plugin's gradients call another's functions.
get_target_property(tern_library_kind tern_compiled TYPE)
if(tern_library_kind STREQUAL STATIC_LIBRARY)
  target_compile_options(tern_compiled PUBLIC $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
endif()

# GNU's, also beside clang: LLVM's linker cannot dissolve the groups that let one object's function stand in for another's.
find_program(TERN_LINKER NAMES ld.bfd ld)
find_program(TERN_OBJCOPY NAMES objcopy)
mark_as_advanced(TERN_LINKER TERN_OBJCOPY)

# The kernels for one instruction set. The linker sees only what backend/cpu/dispatch.hpp chooses from.
function(tern_add_kernels set architecture)
  set(name tern_kernels_${set})
  add_library(${name} OBJECT EXCLUDE_FROM_ALL include/tern/tern.cpp)
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                           POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PRIVATE tern)
  target_compile_definitions(${name} PRIVATE TERN_KERNEL_SET=${set})
  # Neither a unique symbol of g++ nor one that is optimised when linking can be hidden.
  target_compile_options(${name} PRIVATE -march=${architecture} $<TARGET_PROPERTY:tern_compiled,COMPILE_OPTIONS>
                                         -fno-lto $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  add_custom_command(OUTPUT ${object} VERBATIM COMMAND_EXPAND_LISTS
    COMMAND ${TERN_LINKER} -r --force-group-allocation $<TARGET_OBJECTS:${name}> -o ${object}.all
    COMMAND ${TERN_OBJCOPY} --wildcard "--keep-global-symbol=*KernelFor*" ${object}.all ${object}
    DEPENDS ${name} $<TARGET_OBJECTS:${name}>)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(tern_compiled PRIVATE ${object})
endfunction()

if(tern_any_processor)
  target_compile_definitions(tern_compiled PRIVATE TERN_KERNEL_SETS)
  tern_add_kernels(avx2 x86-64-v3)
  tern_add_kernels(avx512 x86-64-v4)
endif()
include(cmake/compiled_options.cmake)
