// What a target brings: headers and libraries, and C++20. It takes no time to compile.
#include <dnnl.h>
#include <omp.h>
#include <zlib.h>

#include <cstdio>
#include <tern/core/config.hpp>

#if defined(USES_images)
#include <jpeglib.h>
#include <png.h>
const bool works = jpeg_std_error(new jpeg_error_mgr) && png_access_version_number();
#elif defined(USES_lmdb)
#include <lmdb.h>
const bool works = mdb_version(nullptr, nullptr, nullptr);
#elif defined(USES_mpi)
#include <mpi.h>
int major, minor;
const bool works = MPI_Get_version(&major, &minor) == MPI_SUCCESS;
#else
const bool works = true;
#endif

static_assert(__cplusplus >= 202002 && _OPENMP);

int main() { std::printf("%s\n", works && dnnl_version() && zlibVersion() && omp_get_max_threads() ? "6" : ""); }
