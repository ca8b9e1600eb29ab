#include "models/experiments/layouts_report.hpp"

#include <fmt/core.h>

#include "models/experiments/layouts_columns.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

bool sums(const InsertedConversion& inserted) { return inserted.to.partial.size() < inserted.from.partial.size(); }

MeshAxes summed_axes(const InsertedConversion& inserted) {
  MeshAxes axes;
  for (const std::uint8_t axis : inserted.from.partial) {
    const MeshAxes& left = inserted.to.partial;
    if (std::find(left.begin(), left.end(), axis) == left.end()) { axes.push_back(axis); }
  }
  return axes;
}

std::string subject_of(const InsertedConversion& inserted) {
  return inserted.gradient ? "the gradient of " + inserted.tensor : inserted.tensor;
}

/// What a device takes part with in all steps: bytes as Collective::count counts.
Bytes bytes_of(const InsertedConversion& inserted) {
  Bytes sum;
  for (const LayoutStep& step : inserted.conversion.steps) {
    if (step.kind != LayoutStepKind::slice) { sum += Bytes{step.elements * inserted.extent.element_bytes}; }
  }
  return sum;
}

std::vector<std::string> step_texts(const InsertedConversion& inserted, const DeviceMesh& mesh) {
  std::vector<std::string> texts;
  for (const LayoutStep& step : inserted.conversion.steps) { texts.push_back(text_of(step, mesh)); }
  return texts;
}

std::uint64_t collectives_of(const InsertedConversion& inserted) {
  std::uint64_t count = 0;
  for (const LayoutStep& step : inserted.conversion.steps) {
    count += step.kind == LayoutStepKind::slice ? 0 : inserted.count;
  }
  return count;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& each : texts) { all += (all.empty() ? "" : ", ") + each; }
  return all;
}

std::string plain_text(const InsertedConversion& inserted) {
  if (!inserted.plain) { return "; gathering and slicing alone does not lead there"; }
  if (*inserted.plain <= inserted.conversion.time) { return ""; }
  return fmt::format("; gathering, summing and slicing alone: {}", to_string(*inserted.plain));
}

std::string line_of(const InsertedConversion& inserted, const DeviceMesh& mesh) {
  return fmt::format("{} from {} to {}: {}, {} x {} ({}); {}{}", subject_of(inserted), text_of(inserted.from, mesh),
                     text_of(inserted.to, mesh), joined(step_texts(inserted, mesh)), inserted.count,
                     to_string(inserted.conversion.time), to_string(bytes_of(inserted)), reason_of(inserted, mesh),
                     plain_text(inserted));
}

JsonValue json_of(const InsertedConversion& inserted, const DeviceMesh& mesh) {
  JsonValue::Object object{{"tensor", inserted.tensor},
                           {"gradient", inserted.gradient},
                           {"from", text_of(inserted.from, mesh)},
                           {"to", text_of(inserted.to, mesh)},
                           {"steps", step_texts(inserted, mesh)},
                           {"count", inserted.count},
                           {"each_us", microseconds(inserted.conversion.time)},
                           {"bytes", bytes_of(inserted).count()},
                           {"reason", reason_of(inserted, mesh)}};
  if (inserted.plain) { object.emplace_back("plain_us", microseconds(*inserted.plain)); }
  return object;
}

}  // namespace

std::string text_of(const LayoutStep& step, const DeviceMesh& mesh) {
  if (step.axes.empty()) { return std::string(name(step.kind)); }
  return fmt::format("{} over {}", name(step.kind), mesh.names(step.axes));
}

std::string reason_of(const InsertedConversion& inserted, const DeviceMesh& mesh) {
  const std::string summed = mesh.names(summed_axes(inserted));
  if (inserted.parameter && inserted.gradient) {
    return sums(inserted) ? fmt::format(
                                "devices along {} had different parts of what '{}' is made of, and their terms "
                                "are added",
                                summed, inserted.taker)
                          : "the gradient becomes what the parameter is";
  }
  if (inserted.parameter) {
    return fmt::format("'{}' needs it so{}", inserted.taker, inserted.again ? ", in backward once more" : "");
  }
  const std::string& left = inserted.gradient ? inserted.taker : inserted.maker;
  const std::string& needed = inserted.gradient ? inserted.maker : inserted.taker;
  if (sums(inserted)) {
    const std::string where = inserted.gradient ? "backward of '" + left + "'" : "'" + left + "'";
    return fmt::format("{} sums over what {} shards, and its terms are added", where, summed);
  }
  if (inserted.gradient) { return fmt::format("backward of '{}' needs it so", needed); }
  return fmt::format("'{}' needs it so", needed);
}

void put_inserted(const LayoutPlan& plan, const LayoutTask& task, Record& record) {
  std::uint64_t collectives = 0;
  JsonValue::List inserted;
  for (const InsertedConversion& each : plan.inserted) {
    collectives += collectives_of(each);
    inserted.push_back(json_of(each, task.mesh));
    record.remarks.push_back(line_of(each, task.mesh));
  }
  JsonValue::List chosen;
  for (std::size_t node = 0; node < plan.strategies.size(); ++node) {
    const LayoutGraph::Node& what = task.graph.nodes[node];
    if (what.what.kind == LayoutOperatorKind::copy) { continue; }
    chosen.push_back(JsonValue::Object{
        {"tensor", what.tensor}, {"layout", text_of(output_layout(what.what, plan.strategies[node]), task.mesh)}});
  }
  record.put(kLayoutCollectives, collectives);
  record.put(kLayoutInserted, std::move(inserted));
  record.put(kLayoutChosen, std::move(chosen));
}

}  // namespace athanor
