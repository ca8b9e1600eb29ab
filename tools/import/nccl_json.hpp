#pragma once

#include <string>

#include "sim/config/document.hpp"
#include "tools/import/imported_rows.hpp"

namespace athanor {

/// What nccl-tests writes with -J. Of the environment only NCCL_ALGO and NCCL_PROTO are taken over, of the devices
/// their model and how many there are: no names of hosts, no secrets.
void import_nccl_json(const Document& document, const ImportHints& hints, Measurement& measurement, Problems& problems);

}  // namespace athanor
