# What tern needs, for its own build and, installed beside it, for programs that find_package(tern).
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_package(DNNL REQUIRED MODULE)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
# Only tern::images, the readers of pictures, needs these.
find_package(JPEG QUIET)
find_package(PNG QUIET)
# Only tern::lmdb, the writer of LMDB folders, needs this.
find_package(LMDB QUIET MODULE)
# Only tern::mpi, ranks that are processes, needs this.
find_package(MPI QUIET COMPONENTS CXX)
list(POP_FRONT CMAKE_MODULE_PATH)
