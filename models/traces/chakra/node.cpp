#include "models/traces/chakra/node.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/traces/trace_options.hpp"
#include "sim/config/syntax.hpp"
#include "sim/config/text.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"

namespace athanor {

void ChakraNode::set(std::string_view attribute, std::int64_t value) {
  if (attribute == "is_cpu_op") {
    cpu = value != 0;
  } else if (attribute == "num_ops") {
    operations = value;
  } else if (attribute == "tensor_size") {
    tensor_size = value;
  } else if (attribute == "comm_type") {
    collective_type = value;
  } else if (attribute == "comm_size") {
    size = value;
  } else if (attribute == "comm_src") {
    from = value;
  } else if (attribute == "comm_dst") {
    to = value;
  } else if (attribute == "comm_tag") {
    tag = value;
  } else if (attribute == "root_rank" || attribute == "root") {
    root = value;
  }
}

namespace {

/// None: no list of ranks, each of which stands once.
std::optional<std::vector<std::uint32_t>> ranks_in(const nlohmann::json& list) {
  if (!list.is_array()) { return std::nullopt; }
  std::vector<std::uint32_t> ranks;
  for (const nlohmann::json& rank : list) {
    if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= kMostTraceRanks) { return std::nullopt; }
    ranks.push_back(rank.get<std::uint32_t>());
  }
  std::vector<std::uint32_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) { return std::nullopt; }
  return ranks;
}

}  // namespace

void ChakraGroups::read(const std::string& path) {
  const nlohmann::json json = parse_json(read_text_file(path), path);
  for (const auto& [name, list] : json.items()) {
    const auto ranks = json.is_object() ? ranks_in(list) : std::nullopt;
    if (!ranks || ranks->empty()) {
      throw ScenarioError(Problem{"wrong-type",
                                  "a file of groups is an object of names and lists of ranks",
                                  {path, 0, 0, "/" + name},
                                  R"(as in {"0": [0, 1, 2, 3]}, each rank once)"});
    }
    groups_[name] = *ranks;
  }
}

void ChakraGroups::define(const std::string& inputs, const std::string& file) {
  const std::size_t first = inputs.find("[{");
  const std::size_t last = inputs.rfind("}]");
  if (first == std::string::npos || last == std::string::npos || last < first) { return; }
  const std::string text = inputs.substr(first, last + 2 - first);
  nlohmann::json list = json_or_discarded(text);
  if (list.is_discarded()) { list = json_or_discarded(fmt::format("\"{}\"", text)); }  // a string within a string
  if (list.is_string()) { list = json_or_discarded(list.get<std::string>()); }
  if (!list.is_array()) { return; }
  for (const nlohmann::json& group : list) {
    if (!group.is_object() || !group.contains("pg_name") || !group.contains("ranks")) { continue; }
    const nlohmann::json& name = group["pg_name"];
    const auto ranks = ranks_in(group["ranks"]);
    if (!ranks) {
      throw ScenarioError(Problem{"wrong-type",
                                  fmt::format("process group {} has no list of ranks, each of which stands once",
                                              name.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)),
                                  {file, 0, 0, ""},
                                  fmt::format("ranks go from 0 to {}", kMostTraceRanks - 1)});
    }
    groups_[name.is_string() ? name.get<std::string>() : name.dump()] = *ranks;
  }
}

std::optional<std::vector<std::uint32_t>> ChakraGroups::ranks_of(const std::string& name) const {
  const auto found = groups_.find(name);
  if (found == groups_.end() && !name.empty()) { return std::nullopt; }
  if (found != groups_.end() && !found->second.empty()) { return found->second; }
  std::vector<std::uint32_t> all(ranks_);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace athanor
