#pragma once

#include <string>
#include <string_view>

#include "tools/import/imported_rows.hpp"

namespace athanor {

/// The printed tables of the OSU micro-benchmarks: collectives with one column or, with -f, with the least and greatest
/// time too; latency and bandwidth between two processes as send_receive. A bandwidth test sends many messages at a
/// time: its rows have a bandwidth and no time.
///
/// OSU counts the message of one rank; athanor, like nccl-tests, the largest buffer: sizes of all-gather, gather,
/// scatter and all-to-all are multiplied by the ranks. OSU prints no number of ranks: hints.ranks is required, but for
/// tests of two processes.
void import_osu_text(std::string_view text, const std::string& file, const ImportHints& hints, Measurement& measurement,
                     Problems& problems);

}  // namespace athanor
