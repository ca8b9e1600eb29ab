#include "models/traces/layers/read_layers.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "models/traces/layers/layer_text.hpp"
#include "models/traces/trace_options.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using InputGradient = LayerList::InputGradient;

/// How the policies of ASTRA-sim 1 divide the ranks. Model-parallel ranks stand side by side unless data-parallel ones
/// do (`data_first`).
struct Policy {
  std::string_view name;
  InputGradient input_gradient;
  bool forward;  ///< phases but that of the weight gradient communicate
  bool weight;
  bool hybrid;
  bool data_first;
};

constexpr Policy kPolicies[] = {
    {"DATA", InputGradient::after, false, true, false, false},
    {"MICRO", InputGradient::after, false, true, false, false},
    {"MODEL", InputGradient::beside, true, false, false, false},
    {"DISTRIBUTED_INFERENCE", InputGradient::none, true, false, false, false},
    {"HYBRID_DATA_MODEL", InputGradient::beside, true, true, true, false},
    {"HYBRID_MODEL_DATA", InputGradient::beside, true, true, true, true},
    {"HYBRID_TRANSFORMER", InputGradient::waited_for, true, true, true, false},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", InputGradient::waited_for, true, true, true, false}};

using Numbers = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

/// "ep: 8 pp: 2 checkpoints: 2 0 4 pp_comm 1024": the whole numbers behind each key, with or without its colon.
Numbers keys_of(LayerText& text) {
  Numbers keys;
  std::string key;
  const auto& words = text.first_line();
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto number = whole_number_of(words[i])) {
      if (key.empty()) {
        text.complain(1, "wrong-number", fmt::format("'{}' belongs to no key", words[i]), "");
        return keys;
      }
      keys[key].push_back(*number);
    } else {
      key = words[i].substr(0, words[i].find(':'));
      keys[key];
      const std::string_view behind = words[i].substr(std::min(key.size() + 1, words[i].size()));
      if (const auto glued = whole_number_of(behind)) { keys[key].push_back(*glued); }
    }
  }
  return keys;
}

/// The layers that "checkpoints: 2 0 4" or "checkpoint_initiates: ..." names.
void mark_layers(LayerText& text, const Numbers& keys, const char* key, bool LayerList::Layer::*flag, LayerList& list) {
  const auto found = keys.find(key);
  if (found == keys.end() || found->second.empty()) { return; }
  const auto& numbers = found->second;
  if (numbers.front() != static_cast<std::int64_t>(numbers.size()) - 1) {
    return text.complain(1, "wrong-number",
                         fmt::format("{} announces {} layers and names {}", key, numbers.front(), numbers.size() - 1),
                         "");
  }
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] < 0 || numbers[i] >= static_cast<std::int64_t>(list.layers.size())) {
      return text.complain(
          1, "no-such-layer",
          fmt::format("{} names layer {}, and there are layers 0 to {}", key, numbers[i], list.layers.size() - 1), "");
    }
    list.layers[static_cast<std::size_t>(numbers[i])].*flag = true;
  }
}

void mark_checkpoints(LayerText& text, const Numbers& keys, LayerList& list) {
  mark_layers(text, keys, "checkpoints", &LayerList::Layer::checkpoint, list);
  mark_layers(text, keys, "checkpoint_initiates", &LayerList::Layer::recomputes, list);
}

/// None: complained of.
const Policy* policy_of(LayerText& text) {
  const std::string_view name = text.first_line().empty() ? "" : text.first_line().front();
  const auto found =
      std::find_if(std::begin(kPolicies), std::end(kPolicies), [&](const Policy& each) { return each.name == name; });
  if (found != std::end(kPolicies)) { return found; }
  std::string known;
  for (const Policy& each : kPolicies) { known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name); }
  text.complain(1, "unknown-policy", fmt::format("'{}' is no policy that is understood", name), known + " are");
  return nullptr;
}

/// Groups of the ranks, by the policy; false: complained of.
bool make_groups(LayerText& text, const Policy& policy, const TraceOptions& options, LayerList& list) {
  const std::uint32_t ranks = list.ranks;
  if (!policy.hybrid) {
    list.groups.push_back(
        {"all ranks", policy.weight ? Parallelism::data : Parallelism::tensor, strided_groups(ranks, ranks, 1)});
    return true;
  }
  const std::uint32_t model = options.model_ranks;
  if (model == 0 || ranks % model != 0) {
    text.complain(1, "missing-key",
                  model == 0 ? fmt::format("the policy {} needs the number of ranks that share a model", policy.name)
                             : fmt::format("{} ranks are no whole groups of {} that share a model", ranks, model),
                  R"(say it: "model_ranks": 8)");
    return false;
  }
  const std::uint32_t data = ranks / model;
  list.groups.push_back({"model", Parallelism::tensor, strided_groups(ranks, model, policy.data_first ? data : 1)});
  list.groups.push_back({"data", Parallelism::data, strided_groups(ranks, data, policy.data_first ? 1 : model)});
  return true;
}

/// How SimAI divides its ranks: tensor parallelism side by side, then data parallelism, then the stages of the
/// pipeline.
struct SimaiPlan {
  std::int64_t tensor = 0;
  std::int64_t expert = 1;
  std::int64_t stages = 1;
  std::int64_t virtual_stages = 1;
  std::int64_t accumulation = 1;
  std::int64_t ranks = 0;

  std::int64_t data() const { return ranks / (tensor * stages); }
};

/// None: complained of.
std::optional<SimaiPlan> plan_of(LayerText& text, const Numbers& keys) {
  SimaiPlan plan;
  struct Key {
    const char* name;
    std::int64_t SimaiPlan::*value;
  };
  constexpr Key kKeys[] = {{"model_parallel_NPU_group", &SimaiPlan::tensor},
                           {"ep", &SimaiPlan::expert},
                           {"pp", &SimaiPlan::stages},
                           {"vpp", &SimaiPlan::virtual_stages},
                           {"ga", &SimaiPlan::accumulation},
                           {"all_gpus", &SimaiPlan::ranks}};
  for (const Key& key : kKeys) {
    const auto found = keys.find(key.name);
    if (found != keys.end() && found->second.size() == 1) { plan.*key.value = found->second.front(); }
    constexpr std::int64_t kMost = kMostTraceRanks;
    if (plan.*key.value >= 1 && plan.*key.value <= kMost) { continue; }
    text.complain(1, "missing-key", fmt::format("the first line needs '{}: N' with N from 1 to {}", key.name, kMost),
                  "");
    return std::nullopt;
  }
  static_assert(std::int64_t{kMostTraceRanks} * kMostTraceRanks < INT64_MAX);  // products of two of them
  if (plan.ranks % (plan.tensor * plan.stages) != 0 || plan.data() % plan.expert != 0) {
    text.complain(1, "does-not-divide",
                  fmt::format("{} ranks are not divided by {} of tensor parallelism, {} stages and {} of expert "
                              "parallelism",
                              plan.ranks, plan.tensor, plan.stages, plan.expert),
                  "expert-parallel ranks are some of the data-parallel ones");
    return std::nullopt;
  }
  return plan;
}

void make_simai_groups(const SimaiPlan& plan, LayerList& list) {
  const auto ranks = static_cast<std::uint32_t>(plan.ranks);
  const auto tensor = static_cast<std::uint32_t>(plan.tensor);
  const auto expert = static_cast<std::uint32_t>(plan.expert);
  const auto data = static_cast<std::uint32_t>(plan.data());
  list.ranks = ranks;
  list.groups.push_back({"TP", Parallelism::tensor, strided_groups(ranks, tensor, 1)});
  list.groups.push_back({"DP", Parallelism::data, strided_groups(ranks, data, tensor)});
  list.groups.push_back({"EP", Parallelism::expert, strided_groups(ranks, expert, tensor)});
  list.groups.push_back({"DP of experts", Parallelism::data, strided_groups(ranks, data / expert, tensor * expert)});
}

/// Each way. Steps have some thousands at most; each becomes three operations of some hundred bytes.
constexpr std::uint64_t kMostPipelineMessages = 1U << 18U;

/// SimAI's own formula: each of the ga x vpp messages both ways is exposed, and the bubble is (P - 1) / (vpp x ga).
void make_pipeline(LayerText& text, const SimaiPlan& plan, const Numbers& keys, LayerList& list, WorkloadDraft& draft) {
  if (plan.stages == 1) { return; }
  const auto found = keys.find("pp_comm");
  if (found == keys.end() || found->second.size() != 1 || found->second.front() < 1 ||
      found->second.front() > kMostMessage) {
    return text.complain(1, "missing-key", fmt::format("{} stages need pp_comm: BYTES", plan.stages),
                         fmt::format("from 1 to {}", kMostMessage));
  }
  const auto messages = static_cast<std::uint64_t>(plan.virtual_stages * plan.accumulation);
  if (messages > kMostPipelineMessages) {
    return text.complain(1, "out-of-range", fmt::format("vpp x ga asks for {} messages each way", messages),
                         fmt::format("up to {} are written out", kMostPipelineMessages));
  }
  list.pipeline = {static_cast<std::uint32_t>(plan.stages), messages, Bytes{found->second.front()},
                   Ratio{plan.stages - 1, plan.virtual_stages * plan.accumulation}};
  draft.notes.say(fmt::format(
      "the file holds one stage of {}: the bubble is added as (stages - 1) / (vpp x ga) of its computations, "
      "and {} messages each way one after the other, as SimAI does",
      plan.stages, list.pipeline.messages));
}

}  // namespace

void read_astra(const std::string& file, const TraceOptions& options, WorkloadDraft& draft) {
  LayerText text(file, options, draft);
  const Policy* policy = policy_of(text);
  if (policy == nullptr) { return; }
  if (!options.unit || !options.ranks) {
    return text.complain(0, "missing-key", "such a file says neither the unit of its times nor the number of ranks",
                         R"(say them: "unit": "1us", "ranks": 64)");
  }
  LayerList list;
  list.file = file;
  list.ranks = *options.ranks;
  list.input_gradient = policy->input_gradient;
  if (!make_groups(text, *policy, options, list)) { return; }
  const LayerText::Group group = [&](const LayerText::Written& written) -> std::optional<std::uint32_t> {
    if (!(written.weight ? policy->weight : policy->forward)) {
      draft.notes.count("communications that the policy does not have were left out");
      return std::nullopt;
    }
    return policy->hybrid && written.weight ? 1U : 0U;
  };
  const Numbers keys = keys_of(text);
  text.read_layers(*options.unit, false, group, list);
  if (!draft.complaints.empty()) { return; }
  mark_checkpoints(text, keys, list);
  if (draft.complaints.empty()) { add_layers(list, options, draft); }
}

void read_simai(const std::string& file, const TraceOptions& options, WorkloadDraft& draft) {
  LayerText text(file, options, draft);
  const Numbers keys = keys_of(text);
  const auto plan = plan_of(text, keys);
  if (!plan || !draft.complaints.empty()) { return; }
  LayerList list;
  list.file = file;
  make_simai_groups(*plan, list);
  make_pipeline(text, *plan, keys, list, draft);
  const LayerText::Group group = [&](const LayerText::Written& written) -> std::optional<std::uint32_t> {
    if (written.suffix.empty()) { return written.weight ? 1U : 0U; }
    if (written.suffix == "_EP") { return 2U; }
    if (written.suffix == "_DP_EP") { return 3U; }
    text.complain(written.line, "unknown-collective", fmt::format("'{}' names no group that is known", written.suffix),
                  "_EP and _DP_EP do");
    return std::nullopt;
  };
  constexpr Time kNanosecond{1000};
  text.read_layers(options.unit.value_or(kNanosecond), true, group, list);
  if (!draft.complaints.empty()) { return; }
  mark_checkpoints(text, keys, list);
  if (draft.complaints.empty()) { add_layers(list, options, draft); }
}

}  // namespace athanor
