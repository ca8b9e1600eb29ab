#include "models/jobs/node_file.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/jobs/gpu_set.hpp"
#include "models/jobs/logs/table.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

std::uint32_t number(const LogTable& table, std::size_t column, std::uint32_t most) {
  const std::string_view text = table.field(column);
  const auto value = whole_number_of(text);
  if (value && *value >= 0 && *value <= most) { return static_cast<std::uint32_t>(*value); }
  throw ScenarioError({"no-node", fmt::format("'{}' is no {}", text, table.columns()[column]), table.place(),
                       fmt::format("write a whole number from 0 to {}", most)});
}

std::uint16_t index_of(std::string_view name, std::vector<std::string>& all) {
  const auto at = std::find(all.begin(), all.end(), name);
  const auto index = static_cast<std::uint16_t>(at - all.begin());
  if (at == all.end()) { all.emplace_back(name); }
  return index;
}

/// Alibaba's cluster-trace-gpu-v2023: sn, cpu_milli, memory_mib, gpu (how many), model.
NodeList read_openb(const std::string& path) {
  constexpr std::uint32_t kMost = Node::kUnlimited - 1;
  LogTable table(path, {});
  const std::size_t sn = table.column("sn");
  const std::size_t cpu_milli = table.column("cpu_milli");
  const std::size_t memory_mib = table.column("memory_mib");
  const std::size_t gpu = table.column("gpu");
  const std::size_t model = table.column("model");
  NodeList list;
  while (table.next()) {
    Node node;
    node.gpus = static_cast<std::uint16_t>(number(table, gpu, GpuSet::kMost));
    node.gpu_type = index_of(table.field(model), list.gpu_types);
    node.cpu_milli = number(table, cpu_milli, kMost);
    node.memory_mib = number(table, memory_mib, kMost);
    list.nodes.push_back(node);
    list.names.emplace_back(table.field(sn));
  }
  return list;
}

}  // namespace

const std::vector<NodeFormat>& node_formats() {
  static const std::vector<NodeFormat> all{
      {"openb", "CSV of Alibaba's cluster-trace-gpu-v2023: sn, cpu_milli, memory_mib, gpu, model", &read_openb}};
  return all;
}

}  // namespace athanor
