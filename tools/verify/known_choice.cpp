#include "tools/verify/known_choice.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

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

std::optional<NcclAlgorithm> nccl_algorithm_of(const ResultRow& row) {
  if (const auto own = nccl_algorithm_of(std::string_view(row.run.algorithm))) { return own; }
  if (row.run.algorithm == "double_binary_tree") { return NcclAlgorithm::tree; }  // of profiles without "nccl"
  return std::nullopt;
}

bool agrees(const KnownChoice& known, const std::vector<ResultRow>& rows) {
  require(!known.algorithms.empty() && !rows.empty(), "nothing to agree with");
  const auto runs_it = [&](const ResultRow& row) {
    const auto algorithm = nccl_algorithm_of(row);
    return algorithm &&
           std::find(known.algorithms.begin(), known.algorithms.end(), *algorithm) != known.algorithms.end();
  };
  return known.forced ? std::all_of(rows.begin(), rows.end(), runs_it) : runs_it(rows.back());
}

std::string choices_by_size(const std::vector<ResultRow>& rows) {
  std::string text;
  const ResultRow* before = nullptr;
  for (const ResultRow& row : rows) {
    const bool same_algorithm = before != nullptr && before->run.algorithm == row.run.algorithm;
    if (same_algorithm && before->run.protocol == row.run.protocol) { continue; }
    const std::string from = before == nullptr ? "" : fmt::format(" from {}", to_string(row.run.size));
    text += fmt::format("{}{}{}{}", before == nullptr ? "" : ", ", same_algorithm ? "" : row.run.algorithm + " ",
                        row.run.protocol, from);
    before = &row;
  }
  return text;
}

}  // namespace athanor
