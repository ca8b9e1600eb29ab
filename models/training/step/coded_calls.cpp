#include "models/training/step/coded_calls.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace athanor {

namespace {

std::uint32_t communicator_of(CodedGroup group, const CodedGroups& groups) {
  switch (group) {
    case CodedGroup::all: return groups.all;
    case CodedGroup::node: return groups.node;
    case CodedGroup::nodes: return groups.nodes;
  }
  return groups.all;
}

}  // namespace

Time time_of(const CodingStage& stage, const CodingRate& rate) {
  constexpr double kPicoseconds = 1e12;
  const double moving = rate.bytes_per_s == 0 ? 0 : stage.bytes / rate.bytes_per_s * kPicoseconds;
  const double device = moving + stage.kernels * static_cast<double>(rate.overhead.count());
  const double host = stage.kernels * static_cast<double>(rate.launch.count());
  return Time{std::llround(std::max(device, host))};
}

StageWriter::Numbers write_coded(StageWriter& writer, std::uint16_t stream, const CodingStages& stages,
                                 const CodedGroups& groups, const CodingRate& rate, StageWriter::Numbers after) {
  for (const CodingStage& stage : stages) {
    const Time time = time_of(stage, rate);
    if (time > Time::zero()) { after = {writer.compute_beside(stream, stage.label, time, after)}; }
    if (!stage.call) { continue; }
    const Workload::Call call{.communicator = communicator_of(stage.call->group, groups),
                              .kind = stage.call->kind,
                              .size = Bytes{static_cast<std::int64_t>(std::ceil(stage.call->bytes))},
                              .type = stage.call->type};
    after = {writer.call(stream, stage.call->label, call, after)};
  }
  return after;
}

}  // namespace athanor
