#include "tools/verify/known_choice.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "sim/check.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

/// Runs of letters and digits.
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      all.back() += c;
    } else if (!all.back().empty()) {
      all.emplace_back();
    }
  }
  return all;
}

}  // namespace

KnownChoice known_choice(const std::string& algo) {
  KnownChoice known;
  const std::vector<std::string> all = words(algo);
  known.forced = all.front() != "auto";
  for (const std::string& word : all) {
    if (const auto algorithm = nccl_algorithm(word)) { known.algorithms.push_back(*algorithm); }
  }
  return known;
}

std::optional<NcclAlgorithm> nccl_algorithm_of(const Record& record) {
  const std::string name = record.string(kAlgorithm);
  if (const auto own = nccl_algorithm_of(std::string_view(name))) { return own; }
  if (name == "double_binary_tree") { return NcclAlgorithm::tree; }  // of profiles without "nccl"
  return std::nullopt;
}

bool agrees(const KnownChoice& known, const std::vector<Record>& records) {
  require(!known.algorithms.empty() && !records.empty(), "nothing to agree with");
  const auto runs_it = [&](const Record& record) {
    const auto algorithm = nccl_algorithm_of(record);
    return algorithm &&
           std::find(known.algorithms.begin(), known.algorithms.end(), *algorithm) != known.algorithms.end();
  };
  return known.forced ? std::all_of(records.begin(), records.end(), runs_it) : runs_it(records.back());
}

std::string choices_by_size(const std::vector<Record>& records) {
  std::string text;
  std::string algorithm;
  std::string protocol;
  for (const Record& record : records) {
    const bool first = text.empty();
    const bool same_algorithm = !first && algorithm == record.string(kAlgorithm);
    if (same_algorithm && protocol == record.string(kProtocol)) { continue; }
    algorithm = record.string(kAlgorithm);
    protocol = record.string(kProtocol);
    text += fmt::format("{}{}{}{}", first ? "" : ", ", same_algorithm ? "" : algorithm + " ", protocol,
                        first ? "" : " from " + to_string(size_of(record)));
  }
  return text;
}

}  // namespace athanor
