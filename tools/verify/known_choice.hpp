#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/record.hpp"
#include "models/software/nccl.hpp"

namespace athanor {

/// Which of NCCL's algorithms a table was measured with, as far as its "algo" tells: "Ring" was forced, "auto (NVLS for
/// large sizes)" was the library's choice for its largest ones, "auto" tells nothing.
struct KnownChoice {
  std::vector<NcclAlgorithm> algorithms;  ///< one of these; empty: unknown
  bool forced = false;                    ///< at all sizes; else at the largest alone
};
KnownChoice known_choice(const std::string& algo);

/// The algorithm of a simulated row, by any of its names; none where NCCL has no such algorithm.
std::optional<NcclAlgorithm> nccl_algorithm_of(const Record& record);

/// Whether the rows, in order of size, ran what is known; requires that something is, and a row.
bool agrees(const KnownChoice& known, const std::vector<Record>& records);

/// What ran from which size on: "ring LL, LL128 from 64 KiB, nvls NVLS from 4 MiB". Rows in order of size.
std::string choices_by_size(const std::vector<Record>& records);

}  // namespace athanor
