#include "tools/calibrate/pool/stack_cases.hpp"

#include <fmt/core.h>

#include "models/nccl/execution/machine_parts.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// Whether one process drove all GPUs of a node.
bool by_one_process(const Tables::MeasuredCase& measured) {
  const auto& verification = measured.setup.verification;
  if (!verification) { return measured.platform.profile->nccl->host_launch_per_gpu > Time::zero(); }
  for (const auto& [key, value] : verification->measurement.software_facts) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (key == "gpus_per_process" && number != nullptr) { return *number > 1; }
  }
  return false;
}

StackCase stack_case(const Tables::MeasuredCase& measured) {
  const auto& [platform, setup] = measured;
  if (!setup.nccl) {
    throw UsageError(
        fmt::format("calibrate: profile {} has no \"nccl\" whose figures tables could tell", platform.profile->name));
  }
  StackCase result{platform.profile->name,
                   machine_parts(*platform.cluster, setup.nccl->communicator(), platform.profile->transport)};
  result.version = platform.profile->nccl->version;
  result.within_node = platform.profile->within_node;
  if (setup.nccl->communicator().nodes > 1 && result.parts.transport.empty()) {
    throw UsageError(
        fmt::format("calibrate: profile {} has no \"transport\", and its case is of several nodes; "
                    "write one of {} into the profile",
                    platform.profile->name, joined(transport_names(), ", ")));
  }
  result.parts.one_process = by_one_process(measured);
  result.choosing = choosing_of(result.parts);
  return result;
}

}  // namespace

std::vector<StackCase> stack_cases(const Tables& tables) {
  std::vector<StackCase> cases;
  for (const Tables::MeasuredCase& each : tables.cases) { cases.push_back(stack_case(each)); }
  return cases;
}

Tables tables_of_stack(const Tables& tables, const std::vector<StackCase>& cases, const std::string& stack) {
  Tables result = tables;
  result.rows.clear();
  for (const TableRow& row : tables.rows) {
    if (cases.at(row.in_case).stack == stack) { result.rows.push_back(row); }
  }
  return result;
}

}  // namespace athanor
