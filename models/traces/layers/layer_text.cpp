#include "models/traces/layers/layer_text.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/traces/trace_options.hpp"
#include "sim/byte_source.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::size_t kColumns = 12;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) { line.remove_suffix(1); }
  return line;
}

std::optional<CollectiveKind> kind_of(std::string_view type) {
  if (type == "ALLREDUCE") { return CollectiveKind::all_reduce; }
  if (type == "ALLGATHER") { return CollectiveKind::all_gather; }
  if (type == "REDUCESCATTER") { return CollectiveKind::reduce_scatter; }
  if (type == "ALLTOALL") { return CollectiveKind::all_to_all; }
  return std::nullopt;
}

}  // namespace

LayerText::LayerText(const std::string& file, const TraceOptions& options, WorkloadDraft& draft)
    : file_(file), draft_(draft) {
  ByteSource source(file, options.limit.value_or(kMostHeld));
  text_ = source.rest();
  rest_ = text_;
  first_ = words_of_line(next_line(rest_));
}

void LayerText::complain(int line, const char* code, std::string message, std::string hint) {
  draft_.complaints.add({code, std::move(message), {file_, line, line > 0 ? 1 : 0, ""}, std::move(hint)});
}

void LayerText::read_layers(Time unit, bool gathered, const Group& group, LayerList& list) {
  unit_ = unit;
  gathered_ = gathered;
  group_ = &group;
  const auto count = words_of_line(next_line(rest_));
  const auto announced = count.size() == 1 ? whole_number_of(count[0]) : std::nullopt;
  if (!announced || *announced < 1) {
    return complain(2, "wrong-number", "the second line is the number of layers", "");
  }
  int line = 3;
  for (; !rest_.empty(); ++line) {
    const auto words = words_of_line(next_line(rest_));
    if (words.empty()) { continue; }
    if (static_cast<std::int64_t>(list.layers.size()) == *announced) {
      return complain(line, "wrong-number",
                      fmt::format("the file says it has {} layers, and here is one more", *announced),
                      "correct line 2");
    }
    if (!read_layer(line, words, list)) { return; }
  }
  if (static_cast<std::int64_t>(list.layers.size()) < *announced) {
    complain(line - 1, "truncated",
             fmt::format("the file says it has {} layers and ends after {}", *announced, list.layers.size()),
             "is it cut off?");
  }
}

bool LayerText::read_layer(int line, const std::vector<std::string_view>& words, LayerList& list) {
  if (words.size() != kColumns) {
    complain(line, "wrong-number", fmt::format("a layer has {} columns, and here are {}", kColumns, words.size()),
             "name, -1, then time, type and bytes of the forward pass, of the input gradient and of the weight "
             "gradient, and the time of the update");
    return false;
  }
  LayerList::Layer layer;
  layer.name = words[0];
  const auto forward = pass(line, words, 2, list);
  const auto input = pass(line, words, 5, list);
  const auto weight = pass(line, words, 8, list);
  const auto update = time(line, words[11]);
  if (!forward || !input || !weight || !update) { return false; }
  layer.forward = *forward;
  layer.input_gradient = *input;
  layer.weight_gradient = *weight;
  layer.update = *update;
  list.layers.push_back(std::move(layer));
  return true;
}

std::optional<Time> LayerText::time(int line, std::string_view word) {
  const auto value = whole_number_of(word);
  if (value && *value >= 0 && *value <= INT64_MAX / unit_.count()) { return unit_ * *value; }
  complain(line, "wrong-number", fmt::format("'{}' is no time in whole units from 0 to 106 days", word), "");
  return std::nullopt;
}

std::optional<LayerList::Pass> LayerText::pass(int line, const std::vector<std::string_view>& words, std::size_t at,
                                               const LayerList& list) {
  LayerList::Pass pass;
  const auto duration = time(line, words[at]);
  const auto size = whole_number_of(words[at + 2]);
  if (!duration) { return std::nullopt; }
  pass.time = *duration;
  if (!size || *size < 0 || *size > kMostMessage) {
    complain(line, "wrong-number", fmt::format("'{}' is no number of bytes", words[at + 2]),
             fmt::format("a whole number from 0 to {} is", kMostMessage));
    return std::nullopt;
  }
  const std::string_view word = words[at + 1];
  const std::string_view type = word.substr(0, word.find('_'));
  if (type == "NONE" || *size == 0) { return pass; }
  const auto kind = kind_of(type);
  if (!kind) {
    complain(line, "unknown-collective", fmt::format("'{}' is no type of communication that is known", word),
             "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER and ALLTOALL are");
    return std::nullopt;
  }
  const Written written{type, word.substr(type.size()), *size, at == 8, line};
  const auto group = (*group_)(written);
  if (!group) { return pass; }
  const auto ranks = static_cast<std::int64_t>(list.groups[*group].ranks.front().size());
  const bool part = *kind == CollectiveKind::all_gather && !gathered_;
  pass.communication = {*kind, Bytes{*size} * (part ? ranks : 1), *group};
  return pass;
}

}  // namespace athanor
