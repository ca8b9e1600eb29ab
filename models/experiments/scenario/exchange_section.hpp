#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/all_to_all_v_sizes.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

class FileReader;

/// Blocks of any size from `least` to `most`, all equally likely.
struct RandomExchange {
  Bytes least;
  Bytes most;
};

/// Every rank sends `payload` in all, and its share for the k-th most popular receiver is in proportion to
/// 1 / k^exponent. Who is how popular is the same for all senders: the experts of a layer, of which some are hot.
struct ZipfExchange {
  Bytes payload;
  std::uint32_t exponent = 1;
};

/// The "exchange" of an all-to-all-v as it stands in a scenario: rows by sender, or how they are drawn.
struct ExchangeConfig {
  std::vector<std::vector<Bytes>> rows;
  std::optional<RandomExchange> random;
  std::optional<ZipfExchange> zipf;
  SourceLocation place;
};

/// A table, the path of a file that holds one (found by `files`), or a distribution. `problems` takes what is
/// wrong with the file. Leaves `exchange` as it is after a problem.
void read_exchange(FieldValue& value, const FileReader& files, Problems& problems,
                   std::optional<ExchangeConfig>& exchange);

/// CSV: a line per sender, of whole numbers of bytes with commas between. JSON: {"exchange": [["1KiB", ...], ...]}.
/// Throws FileError.
ExchangeConfig read_exchange_file(const FileReader& files, const std::string& name, Problems& problems);

/// The table for so many ranks, in elements of `element` bytes. Null, with problems, where it is not ranks x ranks or a
/// size is no whole number of elements. Distributions draw from `seed`.
std::shared_ptr<const AllToAllVSizes> make_exchange(const ExchangeConfig& exchange, std::uint32_t ranks, Bytes element,
                                                    std::uint64_t seed, Problems& problems);

}  // namespace athanor
