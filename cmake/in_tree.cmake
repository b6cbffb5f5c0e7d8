# The compiled library for this processor alone, which the examples and tests of this tree link: tern_in_tree, and tern_in_tree_extras
# for what most trainers do without. Their parts are compiled side by side.
add_library(tern_in_tree STATIC EXCLUDE_FROM_ALL)
target_link_libraries(tern_in_tree PUBLIC tern::native)
target_compile_definitions(tern_in_tree INTERFACE TERN_COMPILED PUBLIC TERN_SAME_OPTIONS)
add_library(tern_in_tree_extras STATIC EXCLUDE_FROM_ALL)
target_link_libraries(tern_in_tree_extras PUBLIC tern_in_tree)

foreach(part TRAINING KERNELS INSTANCES FOUNDATION EXTRAS)  # those that take longest come first
  set(source ${CMAKE_CURRENT_BINARY_DIR}/in_tree/${part}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#define TERN_PART_${part}\n#include <tern/tern.cpp>\n")
  set(library tern_in_tree)
  if(part STREQUAL EXTRAS)
    set(library tern_in_tree_extras)
  endif()
  target_sources(${library} PRIVATE ${source})
  target_compile_options(${library} PRIVATE $<$<CONFIG:Release>:-O2>)
endforeach()
