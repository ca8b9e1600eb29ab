#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "algorithms/proof/structure.hpp"

namespace athanor {

namespace {

bool same_shape(const Lane& a, const Lane& b) {
  return a.steps == b.steps && a.loops == b.loops && a.in_ports == b.in_ports && a.out_ports == b.out_ports;
}

bool same_buffer(const std::optional<Cells>& a, const std::optional<Cells>& b) {
  return a.has_value() == b.has_value() && (!a || a->buffer == b->buffer);
}

/// In what two primitives of one program differ; empty: in addresses only.
std::string_view difference(const Primitive& a, LaneId a_lane, const Primitive& b, LaneId b_lane, bool equal_counts) {
  if (!(a.receives == b.receives) || !(a.sends == b.sends)) { return "ports"; }
  if (!same_buffer(a.operands[0], b.operands[0]) || !same_buffer(a.operands[1], b.operands[1])) { return "operands"; }
  if (!same_buffer(a.store, b.store)) { return "store"; }
  if (a.finish != b.finish) { return "finish"; }
  if (equal_counts && a.count != b.count) { return "count"; }
  if (a.wait.has_value() != b.wait.has_value()) { return "wait"; }
  if (a.wait &&
      (a.wait->ended != b.wait->ended || a.wait->lane.value - a_lane.value != b.wait->lane.value - b_lane.value)) {
    return "wait";
  }
  return "";
}

class ProgramCheck {
 public:
  ProgramCheck(const Schedule& schedule, const Wiring& wiring, bool equal_counts)
      : schedule_(schedule), wiring_(wiring), equal_counts_(equal_counts) {}

  /// Lanes of one program side by side, so that one program's primitives are kept at a time.
  std::optional<Violation> run() {
    std::vector<std::uint32_t> order(wiring_.lanes.size());
    for (std::uint32_t lane = 0; lane < order.size(); ++lane) { order[lane] = lane; }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return wiring_.lanes[a].shape.program < wiring_.lanes[b].shape.program;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const WiredLane& lane = wiring_.lanes[order[i]];
      const WiredLane& before = wiring_.lanes[order[i - 1]];
      if (lane.shape.program != before.shape.program) {
        model_ = nullptr;
        continue;
      }
      if (model_ == nullptr) { take_as_model(before); }
      if (auto violation = compare(lane)) { return violation; }
    }
    return std::nullopt;
  }

 private:
  void take_as_model(const WiredLane& lane) {
    model_ = &lane;
    primitives_.clear();
    for (std::uint64_t index = 0; index < lane.primitives(); ++index) { primitives_.push_back(at(lane, index)); }
  }

  Primitive at(const WiredLane& lane, std::uint64_t index) const {
    return schedule_.at(lane.agent, lane.lane, index / lane.shape.steps,
                        static_cast<std::uint32_t>(index % lane.shape.steps));
  }

  std::optional<Violation> compare(const WiredLane& lane) const {
    if (!same_shape(model_->shape, lane.shape)) {
      return differ({lane.agent, lane.lane, {}, {}}, "loops, steps or numbers of ports");
    }
    for (std::uint64_t index = 0; index < lane.primitives(); ++index) {
      const std::string_view what =
          difference(primitives_[index], model_->lane, at(lane, index), lane.lane, equal_counts_);
      if (!what.empty()) { return differ(lane.place(index), what); }
    }
    return std::nullopt;
  }

  Violation differ(const StepPlace& place, std::string_view what) const {
    return {ViolationKind::program, place,
            fmt::format("differs in {} from {}, which is of the same program {}", what,
                        describe(schedule_.agent_count(), {model_->agent, model_->lane, {}, {}}),
                        model_->shape.program.value)};
  }

  const Schedule& schedule_;
  const Wiring& wiring_;
  bool equal_counts_;
  const WiredLane* model_ = nullptr;
  std::vector<Primitive> primitives_;
};

}  // namespace

std::optional<Violation> check_programs(const Schedule& schedule, const Wiring& wiring, bool equal_counts) {
  return ProgramCheck(schedule, wiring, equal_counts).run();
}

}  // namespace athanor
