#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/mpi_calibration.hpp"
#include "tools/calibrate/probe_schedules.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators/assemble.hpp"
#include "topologies/generators/clos.hpp"

namespace athanor {

namespace {

using Purpose = Probe::Purpose;

class MpiProbes {
 public:
  explicit MpiProbes(std::uint32_t ranks) : ranks_(ranks) {}

  std::vector<Probe> all() {
    messages();
    arithmetic();
    for (const std::int64_t size : {std::int64_t{64}, kKiB, 16 * kKiB, 256 * kKiB, kMiB}) {
      collectives(size, Purpose::fit);
    }
    for (const std::int64_t size : {std::int64_t{256}, 4 * kKiB, 64 * kKiB, 512 * kKiB}) {
      collectives(size, Purpose::hold_out);
    }
    return std::move(probes_);
  }

 private:
  void add(std::string name, std::shared_ptr<const Schedule> schedule, Purpose purpose) {
    probes_.push_back({std::move(name), std::move(schedule), ranks_, purpose});
  }

  void messages() {
    for (std::int64_t size = 4; size <= kMiB; size *= 4) {
      add(fmt::format("back and forth 4 x {}", to_string(Bytes{size})), carrying(ranks_, 4, size), Purpose::fit);
      add(fmt::format("back and forth 4 x {}", to_string(Bytes{2 * size})), carrying(ranks_, 4, 2 * size),
          Purpose::fit);
    }
    for (const std::int64_t size : {std::int64_t{64}, kKiB, 4 * kKiB, 16 * kKiB, 64 * kKiB, 256 * kKiB}) {
      add(fmt::format("stream 16 x {}", to_string(Bytes{size})), pouring(ranks_, 16, size), Purpose::fit);
      add(fmt::format("exchange 16 x {}", to_string(Bytes{size})), exchanging(ranks_, 16, size), Purpose::fit);
    }
  }

  void arithmetic() {
    for (const std::int64_t size : {64 * kKiB, 256 * kKiB, kMiB, 4 * kMiB}) {
      add(fmt::format("copy 8 x {}", to_string(Bytes{size})), copying_side_by_side(ranks_, 1, 2 * size, 8),
          Purpose::fit);
      add(fmt::format("sum 8 x {}", to_string(Bytes{size})), summing(ranks_, size, 8), Purpose::fit);
    }
  }

  void collectives(std::int64_t size, Purpose purpose) {
    for (const CollectiveKind kind : kProbedCollectives) {
      for (const Algorithm& algorithm : catalog()) {
        if (algorithm.kind != kind || algorithm.engine != Engine::none) { continue; }
        const Collective collective{.kind = kind, .ranks = ranks_, .count = Elements{size / 4}};
        if (algorithm.refuses(collective, {})) { continue; }
        add(fmt::format("{} {} {} ranks {}", name(kind), algorithm.name, ranks_, to_string(Bytes{size})),
            algorithm.make(collective, {}), purpose);
      }
    }
  }

  std::uint32_t ranks_;
  std::vector<Probe> probes_;
};

}  // namespace

std::vector<Probe> mpi_probes(std::uint32_t ranks) { return MpiProbes(ranks).all(); }

Cluster assumed_cluster(std::uint32_t ranks) {
  ClosSpec spec;
  spec.host_cable.rate = spec.host_cable.usable = Bandwidth{100'000'000'000};
  const Population population = hosts(ranks);
  return assemble(population, std::make_shared<Clos>("star", population, star_shape(ranks, {}), spec));
}

}  // namespace athanor
