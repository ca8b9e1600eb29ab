#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/experiments/record.hpp"
#include "models/experiments/scenario/measurement.hpp"
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

/// A measured time over its size.
struct TablePoint {
  Bytes size;
  double time_us = 0;
  bool spike = false;  ///< isolated: left out of errors
};

/// What a table holds of a collective: for each size above zero the row that Measurement::find finds, if it has a time.
/// In order of size, spikes marked.
std::vector<TablePoint> measured_points(const Measurement& measurement, const Measurement::Wanted& wanted);

/// Marks isolated spikes: points that are more than 20 % above
///  - the line through their two neighbours, and
///  - the lines on which the two points before and the two points after go on, with slopes from 0 to 1,
/// all with logarithmic axes of time over size. A step to times that stay higher is none, nor are the first and the
/// last point. Where a side has one point alone, the slope is 1 before and 0 after the point in question: so near an
/// end nothing is taken for a spike that may be beside a low neighbour.
void mark_spikes(std::vector<TablePoint>& points);

/// Mean of |time / time on the line through the two neighbours - 1| over the points from `from` up to, not including,
/// `below` that have two; spikes are left out before neighbours are looked for. Nothing where there is no such point.
std::optional<double> noise(const std::vector<TablePoint>& points, Bytes from = Bytes::zero(),
                            Bytes below = Bytes::max());

/// Above this noise, over all of its sizes, a table is judged apart: no model can be asked for much less than half of
/// it.
constexpr double kNoisy = 0.1;

}  // namespace athanor
