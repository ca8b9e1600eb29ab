#include "algorithms/formats/msccl_algorithm.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "algorithms/schedule/layout.hpp"

namespace athanor {

namespace {

/// What a rank sends and adds, over all its lanes.
struct Work {
  Elements sent;
  Elements reduced;
};

Work work_of(const Schedule& schedule, AgentId rank) {
  Work work;
  for (LaneId lane{0}; lane.value < schedule.lanes(rank); ++lane.value) {
    const Lane shape = schedule.lane(rank, lane);
    for (std::uint32_t step = 0; step < shape.steps; ++step) {
      const Primitive primitive = schedule.at(rank, lane, 0, step);
      work.sent += primitive.count * primitive.sends.count;
      if (primitive.inputs() > 1) { work.reduced += primitive.count * (primitive.inputs() - 1); }
    }
  }
  return work;
}

Cost cost_of(const ImportedAlgorithm& imported, const Collective& collective) {
  const auto schedule = imported.make(collective, Elements::max());
  Cost cost{imported.steps(), Elements::zero(), Elements::zero()};
  for (AgentId rank{0}; rank.value < collective.ranks; ++rank.value) {
    const Work work = work_of(*schedule, rank);
    cost.sent = std::max(cost.sent, work.sent);
    cost.reduced = std::max(cost.reduced, work.reduced);
  }
  return cost;
}

}  // namespace

Algorithm as_algorithm(const std::shared_ptr<const ImportedAlgorithm>& imported) {
  const MscclDocument& document = imported->document();
  return {
      .name = document.name,
      .kind = document.kind,
      .summary = fmt::format("imported from {}", document.place.file),
      .formula = fmt::format("{} steps", imported->steps()),
      .source = document.place.file,
      .explanation = "",
      .ranks = fmt::format("{}", imported->ranks()),
      .fabrics = "",
      .origin = AlgorithmOrigin{document.place.file, document.protocol, document.channels},
      .make_for_many = [imported](
                           const Collective& collective,
                           const Layout& layout) { return imported->make(collective, slices_as_chunks(layout).chunk); },
      .granule_for_many = [imported](const Collective&, const Layout&) { return imported->granule(); },
      .cost_for_many = [imported](const Collective& collective) { return cost_of(*imported, collective); },
      .refuses_many = [imported](const Collective& collective, const Layout&) { return imported->refuses(collective); },
  };
}

}  // namespace athanor
