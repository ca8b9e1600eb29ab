#include <fmt/core.h>

#include "models/experiments/scenario/model_section.hpp"
#include "sim/config/json_value.hpp"
#include "tools/list/listings.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

std::string shape(const TrainedModel& model) {
  if (!model.transformer) { return fmt::format("{} plain layers", model.layers.size()); }
  const Transformer& transformer = *model.transformer;
  std::string text =
      fmt::format("{} layers of {}, {} heads", transformer.layers, transformer.hidden, transformer.attention.heads);
  if (transformer.attention.kind == Attention::Kind::latent) {
    text += ", latent attention";
  } else if (transformer.attention.kv_heads != transformer.attention.heads) {
    text += fmt::format(" ({} of keys)", transformer.attention.kv_heads);
  }
  if (transformer.experts) {
    text += fmt::format(", {} of {} experts of {}", transformer.experts->chosen, transformer.experts->experts,
                        transformer.experts->ffn);
  } else {
    text += fmt::format(", MLP of {}{}", transformer.ffn, transformer.gated ? ", gated" : "");
  }
  return text;
}

Json row(const std::string& name, const ModelPreset& preset) {
  const double all = parameters(preset.model);
  const double active = preset.model.transformer ? active_parameters(*preset.model.transformer) : all;
  return {{"name", name},
          {"parameters", static_cast<std::int64_t>(all)},
          {"active_parameters", static_cast<std::int64_t>(active)},
          {"summary", shape(preset.model)},
          {"source", preset.source},
          {"unverified", preset.unverified},
          {"note", preset.note}};
}

std::string in_billions(const Json& parameters) {
  const double billions = parameters.number() * 1e-9;
  return billions < 999.5 ? fmt::format("{:.3g}B", billions) : fmt::format("{:.3g}T", billions * 1e-3);
}

}  // namespace

Listing list_models(const Library& library, bool verbose) {
  Problems problems;
  Json rows = Json::list();
  for (const auto& [name, preset] : load_models(library, problems)) { rows.push_back(row(name, preset)); }
  problems.throw_if_any();
  std::string text = verbose ? "" : "# --verbose: sources and what is assumed\n";
  text += fmt::format("{:<20}  {:>10}  {:>10}  {}\n", "model", "parameters", "of a token", "shape");
  for (const Json& model : rows.elements()) {
    text +=
        fmt::format("{:<20}  {:>10}  {:>10}  {}\n", model["name"].string(), in_billions(model["parameters"].number()),
                    in_billions(model["active_parameters"].number()), model["summary"].string());
    if (!verbose) { continue; }
    text += fmt::format("    {}\n", wrapped(model["source"].string(), 4));
    for (const Json& field : model["unverified"].elements()) {
      text += fmt::format("    assumed: {}\n", field.string());
    }
    if (!model.string_at("note").empty()) { text += fmt::format("    {}\n", wrapped(model["note"].string(), 4)); }
  }
  return {rows, text};
}

}  // namespace athanor
