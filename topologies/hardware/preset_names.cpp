#include "topologies/hardware/preset_names.hpp"

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

namespace {

/// The names that begin with what was written, as "H100-SXM-80GB" does with "H100-SXM"; at most three.
std::vector<std::string> completions(const std::string& name, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& each : names) {
    if (!name.empty() && each.starts_with(name) && found.size() < 3) { found.push_back(each); }
  }
  return found;
}

}  // namespace

Problem unknown_preset(std::string_view what, const std::string& name, const std::vector<std::string>& names,
                       const SourceLocation& place) {
  const std::vector<std::string> longer = completions(name, names);
  const std::string close =
      longer.empty() ? nearest(name, names) : std::string(fmt::format("{}", joined(longer, "\" or \"")));
  const std::string hint =
      close.empty() ? fmt::format("there are {}", joined(names, ", ")) : fmt::format("did you mean \"{}\"?", close);
  return {"unknown-preset", fmt::format("there is no {} preset \"{}\"", what, name), place, hint};
}

void report_missing(Fields& fields, std::string_view what, const std::vector<NeededFigure>& needed) {
  for (const NeededFigure& each : needed) {
    if (each.there) { continue; }
    fields.problem("", "missing-key", fmt::format("{} without a preset needs \"{}\"", what, each.key),
                   fmt::format(R"(give it, or name what it resembles: "preset": ...; see `athanor list presets`)"));
  }
}

}  // namespace athanor
