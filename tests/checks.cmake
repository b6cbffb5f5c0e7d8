# Every suite and check as a CTest test. This is their only list: tests/run runs them by CTest and finds the checks' names here.
# A test's labels are the presets of `ctest --preset` that run it: quick is what tests/run runs, checks what compiles programs of its own beside. Each test ends with a line `N passed, N failed, N skipped`.
set(here ${CMAKE_CURRENT_SOURCE_DIR})
foreach(label quick checks all cuda cuda_all remote remote_all gpu)
  add_custom_target(tests_${label})  # builds what its tests run
endforeach()
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
execute_process(COMMAND bash -c ". ${PROJECT_SOURCE_DIR}/cmake/packages.sh && newest_clang" OUTPUT_VARIABLE clang OUTPUT_STRIP_TRAILING_WHITESPACE)
if(CMAKE_GENERATOR STREQUAL Ninja)
  set(keep_going -- -k 0)
endif()

# tern_test(NAME COMMAND word... LABELS label... [TARGETS target...] [LOCKS lock...] [AFTER test...] [ENVIRONMENT NAME=VALUE...] [ALONE]).
# Its targets are built by tests too, so that a part of the suite is built while another test runs; LOCKS keep two tests apart.
function(tern_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "ALONE" "" "COMMAND;LABELS;TARGETS;LOCKS;AFTER;ENVIRONMENT")
  add_test(NAME ${name} COMMAND ${test_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # Tests start threads and processes, beside each other: threads that spin while they wait would take the processors from them.
  set_tests_properties(${name} PROPERTIES
    LABELS "${test_LABELS}" FIXTURES_REQUIRED "${test_TARGETS}" RESOURCE_LOCK "${test_LOCKS}" DEPENDS "${test_AFTER}" RUN_SERIAL ${test_ALONE}
    ENVIRONMENT "OMP_WAIT_POLICY=passive;${test_ENVIRONMENT}" SKIP_REGULAR_EXPRESSION "(^|\n)0 passed, 0 failed, [1-9]")
  if(test_LABELS MATCHES "(^|;)(quick|checks|cuda)(;|$)")
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800)  # three times what the longest took on a slow machine: it hangs
  endif()
  foreach(target IN LISTS test_TARGETS)
    if(NOT TEST build/${target})
      add_test(NAME build/${target}
               COMMAND flock ${PROJECT_BINARY_DIR}/.lock ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${target} ${keep_going})
      set_tests_properties(build/${target} PROPERTIES LABELS build FIXTURES_SETUP ${target} RESOURCE_LOCK build)
    endif()
    foreach(label IN LISTS test_LABELS)
      add_dependencies(tests_${label} ${target})
    endforeach()
  endforeach()
endfunction()

# check(NAME LABELS label... [COMMAND word...] [IN_BUILD] [what tern_test takes]): by default tests/NAME or tests/NAME/run. Checks run in two
# lanes: most use all processors for a part of their time, and one alone does not fill the others. IN_BUILD: this one builds in the folder that
# the suite is built in.
function(check name)
  cmake_parse_arguments(PARSE_ARGV 1 check "IN_BUILD" "" "COMMAND")
  if(NOT check_COMMAND)
    set(check_COMMAND ${here}/${name})
    if(IS_DIRECTORY ${here}/${name})
      set(check_COMMAND ${here}/${name}/run)
    endif()
  endif()
  set(locks other_checks)
  if(check_IN_BUILD)
    set(locks checks_in_build build)
  endif()
  tern_test(${name} COMMAND ${check_COMMAND} LOCKS ${locks} ${check_UNPARSED_ARGUMENTS})
endfunction()

# in_parts(TARGET LABEL LABEL_ALL SOURCE...): the suite's cases in as many processes as there are cores, each with a part of the files; for
# LABEL_ALL also the long ones. A file is named by its stem, Catch2's tag for it.
function(in_parts target label label_all)
  list(TRANSFORM ARGN REPLACE ".*/|\\.cpp$" "" OUTPUT_VARIABLE stems)
  list(REMOVE_DUPLICATES stems)
  math(EXPR last "${cores} - 1")
  foreach(stem IN LISTS stems)
    list(LENGTH named number)
    list(APPEND named ${stem})
    math(EXPR part "${number} % ${cores}")
    list(APPEND spec_${part} "~[long][#${stem}]~[.]")  # ~[long] comes first, because a name would swallow it
  endforeach()
  foreach(part RANGE ${last})
    if(NOT spec_${part})
      break()  # more cores than files
    endif()
    list(JOIN spec_${part} , spec)
    tern_test(${target}/${part} COMMAND ${target} --filenames-as-tags --min-duration 5 ${spec} LABELS ${label} ${label_all} TARGETS ${target})
    list(APPEND parts ${target}/${part})
  endforeach()
  set(${target}_parts ${parts} PARENT_SCOPE)
  tern_test(${target}/long COMMAND ${target} --min-duration 5 "[long]~[.]" LABELS ${label_all} TARGETS ${target})
endfunction()

# variant(NAME COMMAND word... what tern_test takes): cases once more, in another way; one of these at a time. TERN_TEST_CASES
# selects other ones than the command does.
set(cases ${here}/support/cases)
function(variant name)
  cmake_parse_arguments(PARSE_ARGV 1 variant "" "" "COMMAND")
  tern_test(variant/${name} COMMAND nice ${variant_COMMAND} LOCKS variants ${variant_UNPARSED_ARGUMENTS})
endfunction()

in_parts(tern_tests quick all ${sources})
in_parts(tern_tests_cuda cuda cuda_all ${device_sources})
in_parts(tern_tests_remote remote remote_all ${device_sources})
foreach(target tern_tests tern_tests_cuda tern_tests_remote)
  set_tests_properties(build/${target} PROPERTIES COST 1000)  # what takes longest begins first
endforeach()

check(format LABELS quick all)
check(layers LABELS quick all)
check(public_ops LABELS quick all)
check(reference LABELS quick all)
check(public_names LABELS checks all)
check(compile_fail LABELS checks all)
check(emulated_tiles LABELS checks all)
check(fast_math LABELS checks)
check(fast_math_all LABELS all COMMAND ${here}/fast_math/run --all)
check(two_objects LABELS checks all)
check(compiled LABELS checks)
check(compiled_all LABELS all COMMAND ${here}/compiled/run --all)
check(package LABELS checks all)
check(gdb LABELS checks all)
check(cuda_emulator LABELS quick all TARGETS cuda_emulator_tests
      COMMAND bash -c "\"$0\" \"$1\" && exec \"$1\"" ${here}/cuda_emulator/tests/refusals $<TARGET_FILE:cuda_emulator_tests>)
check(cupti LABELS checks all IN_BUILD)
check(docs LABELS checks all IN_BUILD)
check(examples LABELS checks all IN_BUILD)
check(whole_programs LABELS checks all IN_BUILD)
check(opinfo LABELS quick all TARGETS tern_opinfo_cpu COMMAND tern_opinfo_cpu --cases ${here}/recorded/opinfo)
check(mpi LABELS checks IN_BUILD)
check(mpi_all LABELS all IN_BUILD ALONE COMMAND ${here}/mpi/run --all)
check(compile_time LABELS checks ALONE)
check(compile_time_all LABELS all ALONE COMMAND ${here}/compile_time --all)
check(studies LABELS checks)
check(studies_all LABELS all IN_BUILD COMMAND ${here}/studies --all)

# NVIDIA's compiler on every kernel written by hand, and on every one that the suite has made.
set(made ${CMAKE_CURRENT_BINARY_DIR}/cache/tern/kernels)
check(cuda_kernels LABELS cuda TARGETS tern_cuda_kernels COMMAND tern_cuda_kernels)
check(cuda_kernels_all LABELS cuda_all TARGETS tern_cuda_kernels COMMAND tern_cuda_kernels ENVIRONMENT TERN_TEST_ALL_CHIPS=1)
check(cuda_sources LABELS cuda TARGETS tern_cuda_sources COMMAND tern_cuda_sources ${made} AFTER ${tern_tests_cuda_parts})
check(cuda_sources_all LABELS cuda_all TARGETS tern_cuda_sources COMMAND tern_cuda_sources ${made} --all AFTER ${tern_tests_cuda_parts})

check(bare LABELS all COMMAND ${here}/bare bookworm trixie jammy noble)
check(aarch64 LABELS all)
check(conan LABELS all COMMAND ${here}/package/conan)
check(headers LABELS all)
check(warnings LABELS all)
check(fuzz LABELS all)
check(records LABELS all)
check(real_cudnn LABELS all)
check(tokenizers LABELS all)

# Cases that TERN_TEST_DATA has.
set(outside "[[ -d \${TERN_TEST_DATA:-}/$0 ]] || exec echo 'needs TERN_TEST_DATA/$0\n0 passed, 0 failed, 1 skipped'
exec \"$@\" --cases \"$TERN_TEST_DATA/$0\"")
foreach(device cpu cuda)
  check(opinfo_on_${device} LABELS all TARGETS tern_opinfo_${device} COMMAND bash -c "${outside}" opinfo $<TARGET_FILE:tern_opinfo_${device}>)
  check(recurrent_on_${device} LABELS all TARGETS tern_recurrent_${device}
        COMMAND bash -c "${outside}" recurrent $<TARGET_FILE:tern_recurrent_${device}>)
  check(models_on_${device} LABELS all COMMAND ${here}/run models --device ${device} IN_BUILD)
endforeach()

variant(old_onednn LABELS all COMMAND ${here}/old_onednn "~[long]~[.]")
if(clang)
  # The sanitizers and the other compiler in one build: it takes half of g++'s time.
  variant(asan LABELS all COMMAND ${cases} build-asan tern_tests "~[long]~[.]" --preset asan -DCMAKE_CXX_COMPILER=${clang})
  # OpenMP's runtime is not instrumented; its own helper tells the sanitizer what it synchronises.
  variant(tsan LABELS all COMMAND ${cases} build-tsan tern_tests_threads "[threads]" --preset tsan -DCMAKE_CXX_COMPILER=${clang}
          ENVIRONMENT TSAN_OPTIONS=ignore_noninstrumented_modules=1)
endif()
variant(remote LABELS all COMMAND ${cases} build tern_tests_remote "~[long]~[.]" TARGETS tern_tests_remote)
set(on_cuda LABELS cuda_all COMMAND ${cases} build tern_tests_cuda "~[.]" TARGETS tern_tests_cuda)
variant(cuda_second_device ${on_cuda} ENVIRONMENT TERN_TEST_ORDINAL=1)
# Rounding as a GPU, each access checked, in another order.
variant(cuda_strict ${on_cuda} ENVIRONMENT TERN_EMULATOR=arithmetic=device,accesses=checked,threads=reverse,order=random:1)
variant(cuda_cudnn_refuses ${on_cuda} ENVIRONMENT TERN_EMULATOR=refuse=random:1)

foreach(part smoke suite models sanitizers ledger)
  tern_test(gpu_${part} LABELS gpu COMMAND ${here}/run ${part} --gpu ALONE)  # builds what it needs, in the time that it has
endforeach()
add_dependencies(tests_gpu tern_tests_gpu tern_tests_cuda tern_opinfo_cuda tern_models_cuda)
