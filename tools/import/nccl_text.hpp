#pragma once

#include <string>
#include <string_view>

#include "tools/import/imported_rows.hpp"

namespace athanor {

/// The printed tables of nccl-tests or rccl-tests of any version, several in one log, out of place and in place:
/// columns are found by their names. The list of devices gives GPUs, nodes and ranks; the name of the program, or else
/// columns and bandwidths, the collective. Names of hosts are not taken over.
void import_nccl_text(std::string_view text, const std::string& file, const ImportHints& hints,
                      Measurement& measurement, Problems& problems);

/// "all_reduce_perf": the collective of a test program; none for what is none.
std::optional<CollectiveKind> collective_of_program(std::string_view program);

}  // namespace athanor
