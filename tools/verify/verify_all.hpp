#pragma once

#include "tools/verify/verdict.hpp"

namespace athanor {

/// `athanor verify --all`: holds every case of every scenario in --directory (default: validation/ beside the presets)
/// that names a measurement against it, and prints the errors of each table by band instead of each row. By default the
/// tables of validation/unseen/ follow, apart from those that were fitted, then the published steps of training.
/// Throws UsageError for scenarios named besides, FileError where the directory holds none.
ExitCode verify_all(const VerifyOptions& options, const Streams& streams);

}  // namespace athanor
