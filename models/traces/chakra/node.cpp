#include "models/traces/chakra/node.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "models/traces/trace_options.hpp"
#include "sim/config/json_parser.hpp"
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
std::optional<std::vector<std::uint32_t>> ranks_in(const JsonValue& list) {
  if (!list.is_list()) { return std::nullopt; }
  std::vector<std::uint32_t> ranks;
  for (const JsonValue& each : list.elements()) {
    const std::int64_t rank = each.whole().value_or(-1);
    if (rank < 0 || rank >= std::int64_t{kMostTraceRanks}) { return std::nullopt; }
    ranks.push_back(static_cast<std::uint32_t>(rank));
  }
  std::vector<std::uint32_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) { return std::nullopt; }
  return ranks;
}

}  // namespace

void ChakraGroups::read(const std::string& path) {
  const JsonValue json = parse_json(read_text_file(path), path);
  const auto refuse = [&](const std::string& pointer) {
    throw ScenarioError(Problem{"wrong-type",
                                "a file of groups is an object of names and lists of ranks",
                                {path, 0, 0, pointer},
                                R"(as in {"0": [0, 1, 2, 3]}, each rank once)"});
  };
  if (!json.is_object()) { refuse(""); }
  for (const auto& [name, list] : json.members()) {
    const auto ranks = ranks_in(list);
    if (!ranks || ranks->empty()) { refuse("/" + name); }
    groups_[name] = *ranks;
  }
}

void ChakraGroups::define(const std::string& inputs, const std::string& file) {
  const std::size_t first = inputs.find("[{");
  const std::size_t last = inputs.rfind("}]");
  if (first == std::string::npos || last == std::string::npos || last < first) { return; }
  const std::string text = inputs.substr(first, last + 2 - first);
  auto list = json_value_of(text, Comments::refused);
  if (!list) { list = json_value_of(fmt::format("\"{}\"", text), Comments::refused); }  // a string within a string
  if (list && list->is_string()) { list = json_value_of(list->string(), Comments::refused); }
  if (!list || !list->is_list()) { return; }
  for (const JsonValue& group : list->elements()) {
    if (!group.contains("pg_name") || !group.contains("ranks")) { continue; }
    const JsonValue& name = group["pg_name"];
    const auto ranks = ranks_in(group["ranks"]);
    if (!ranks) {
      throw ScenarioError(
          Problem{"wrong-type",
                  fmt::format("process group {} has no list of ranks, each of which stands once", text_of(name)),
                  {file, 0, 0, ""},
                  fmt::format("ranks go from 0 to {}", kMostTraceRanks - 1)});
    }
    groups_[name.is_string() ? name.string() : text_of(name)] = *ranks;
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
