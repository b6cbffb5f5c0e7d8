// Writes the ledger's page to a file for chrome://tracing and ui.perfetto.dev: kernels, copies, waits and collectives
// on one time line.
#pragma once
#include "../io/file.hpp"
#include "ledger.hpp"

namespace tern { inline namespace TERN_BUILD { namespace ledger {

/// The page in the Trace Event Format (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU). The
/// host is a process whose threads wait and exchange tensors with other ranks; each device is a process whose streams
/// compute, copy and exchange. Times are in microseconds. Waits for the devices.
TERN_API std::string trace();

/// Writes trace() to a file.
TERN_API void write_trace(const std::string& path, CallSite here = {});

}}}  // namespace tern::ledger

#ifndef TERN_COMPILED
#include "trace.ipp"
#endif
