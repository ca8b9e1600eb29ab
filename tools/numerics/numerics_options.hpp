#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli/command.hpp"
#include "tools/numerics/comparison.hpp"

namespace athanor {

struct NumericsOptions {
  CommonOptions common;
  std::optional<std::string> collective, type, distribution;
  std::optional<std::vector<std::string>> algorithms, accumulators, orders, quantize;
  std::optional<std::uint32_t> block, radix;
  std::uint32_t ranks = 8;
  std::uint32_t seed = 1;
  std::uint32_t group = 0;
  std::uint32_t repetitions = 3;
  std::optional<Bytes> size;
  bool fixed_point = false;
  std::optional<std::string> csv;
};
void visit(OptionFields& fields, NumericsOptions& options);

/// What is added up. Throws UsageError, also where the inputs would not fit into memory.
NumericsRequest numerics_request(const NumericsOptions& options);

/// In which ways: every algorithm that was asked for, those with engines in every arithmetic that was. `note` is told
/// which algorithms "all" leaves out and why. Throws UsageError for an arithmetic that the type does not have or that
/// nobody would use, ScenarioError for an algorithm that is unknown or does not fit though it was named.
std::vector<NumericsSubject> numerics_subjects(const NumericsOptions& options, const NumericsRequest& request,
                                               const std::function<void(const std::string&)>& note);

}  // namespace athanor
