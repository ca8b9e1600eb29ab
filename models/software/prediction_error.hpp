#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/units.hpp"

namespace athanor {

/// How much of a stack had been measured before one of its times was predicted, from most to least.
enum class Knowledge : std::uint8_t {
  sizes,     ///< other sizes of the same collective on as many ranks
  tables,    ///< other collectives, or other numbers of ranks
  two_rows,  ///< the smallest and the largest size
  nothing,   ///< its parts alone, in other stacks
};
inline constexpr std::array kKnowledges{Knowledge::sizes, Knowledge::tables, Knowledge::two_rows, Knowledge::nothing};
std::string_view name(Knowledge knowledge);

/// Ranges of sizes within which predictions are off by the like: below 1 MiB launches and steps count, above 64 MiB
/// links alone.
enum class SizeBand : std::uint8_t { small, middle, large };
constexpr std::size_t kSizeBands = 3;
SizeBand band_of(Bytes size);
/// "below_1MiB", "to_64MiB", "above".
std::string_view name(SizeBand band);

/// What a profile's own tables say of its errors in one band: mean |simulated / measured - 1|.
struct OwnError {
  double held_out = 0;    ///< on rows that were not fitted
  double rows = 0;        ///< as many independent ones tell it; 0: none
  double prior_rows = 1;  ///< as many the errors of the kind count as beside them
  double least = 0;       ///< no interval is narrower
};
using OwnErrors = std::array<OwnError, kSizeBands>;

/// How far predictions were off on rows that no fit had seen: a measured time over the simulated one.
struct PredictionError {
  Knowledge knowledge = Knowledge::nothing;
  bool several_nodes = false;
  SizeBand band = SizeBand::small;
  double low = 1;            ///< one measured time in ten is below this multiple of the simulated one
  double high = 1;           ///< one in ten is above
  double shared = 0;         ///< of the variance of its logarithm, what predictions of one stack have in common
  std::uint32_t tables = 0;  ///< that were held out
};
void visit(Fields& fields, PredictionError& error);

/// That of predictions of this kind in the band of the size; null: none was held out.
const PredictionError* find(const std::vector<PredictionError>& errors, Knowledge knowledge, bool several_nodes,
                            Bytes size);

/// That of a prediction of this kind by a profile with errors of its own; none: none was held out.
///
/// Errors of a table have a scatter of their own about zero. That of a table of which nothing is known is one of those
/// of the kind: with a scaled inverse chi-squared distribution of n0 degrees of freedom, errors of all tables are a
/// Student's t of n0 times s0, and the ends of their 80 % are e0 = t(n0, 0.9) s0. n rows of the profile's own with the
/// root mean square s make of it t(n0 + n) times sqrt((n0 s0^2 + n s^2) / (n0 + n)), which are the new ends (Gelman et
/// al., "Bayesian Data Analysis", 2013, section 2.6), each end of the kind's by itself; n0 and n are `prior_rows` and
/// `rows`. They never lie within the multiples by which `least` says that measured times are off.
///
/// Ends are continuous in size: within a factor of 4 of an edge between two bands their logarithms go from one band's
/// to the other's, linearly in the logarithm of size; `least` goes over on the side of the band where it is less.
std::optional<PredictionError> predicted_error(const std::vector<PredictionError>& errors, Knowledge knowledge,
                                               bool several_nodes, Bytes size, const OwnErrors& own);

}  // namespace athanor
