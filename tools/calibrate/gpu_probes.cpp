#include <algorithm>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/gpu_calibration.hpp"
#include "tools/calibrate/probe_schedules.hpp"

namespace athanor {

namespace {

using Purpose = Probe::Purpose;

class GpuProbes {
 public:
  explicit GpuProbes(const GpuMachine& machine) : machine_(machine) {}

  std::vector<Probe> all() {
    copies();
    messages(1);
    if (machine_.gpus > 1) { messages(2); }
    for (const std::int64_t size : {kKiB, 16 * kKiB, 256 * kKiB, 4 * kMiB}) { collectives(size, Purpose::fit); }
    for (const std::int64_t size : {4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB}) { collectives(size, Purpose::hold_out); }
    return std::move(probes_);
  }

 private:
  void add(std::string name, std::shared_ptr<const Schedule> schedule, std::uint32_t gpus, Purpose purpose) {
    probes_.push_back({std::move(name), std::move(schedule), gpus, purpose});
  }

  void copy(std::uint32_t blocks, std::int64_t working_set, std::uint32_t passes) {
    add(fmt::format("{} blocks copy {} x {}", blocks, to_string(Bytes{working_set}), passes),
        copying_side_by_side(blocks, blocks, working_set, passes), 1, Purpose::fit);
  }

  /// By one block; by growing numbers of blocks within the cache, and far beyond it.
  void copies() {
    for (const std::uint32_t passes : {1U, 16U, 128U}) { copy(1, 8, passes); }
    for (const std::int64_t size : {16 * kKiB, 256 * kKiB, 4 * kMiB}) { copy(1, size, 4); }
    const std::int64_t cache = machine_.cache_size.count();
    for (std::uint32_t blocks = 2; blocks <= std::min(machine_.blocks, 512U); blocks *= 2) {
      const std::int64_t within = cache / 4 / blocks / kKiB * kKiB;
      if (within >= 16 * kKiB) { copy(blocks, within, 8); }
      copy(blocks, std::max<std::int64_t>(4 * cache / blocks / kKiB * kKiB, kMiB), 2);
    }
  }

  void messages(std::uint32_t gpus) {
    const auto name = [&](const char* what, std::uint32_t count, std::int64_t size) {
      return fmt::format("{} {} x {} on {} GPU{}", what, count, to_string(Bytes{size}), gpus, gpus == 1 ? "" : "s");
    };
    for (const std::uint32_t hops : {1U, 8U, 64U}) {
      add(name("back and forth", hops, 4), carrying(2, hops, 4), gpus, Purpose::fit);
    }
    for (const std::int64_t size : {16 * kKiB, 256 * kKiB, 4 * kMiB}) {
      add(name("back and forth", 4, size), carrying(2, 4, size), gpus, Purpose::fit);
      add(name("stream", 8, size), pouring(2, 8, size), gpus, Purpose::fit);
      add(name("exchange", 8, size), exchanging(2, 8, size), gpus, Purpose::fit);
    }
    if (gpus > 1) { streams_side_by_side(gpus); }
  }

  /// Many blocks of one GPU write into another: what the link takes together.
  void streams_side_by_side(std::uint32_t gpus) {
    for (const std::uint32_t ranks : {8U, 16U, 32U, 64U}) {
      if (ranks / gpus > machine_.blocks) { return; }
      const Collective collective{
          .kind = CollectiveKind::all_to_all, .ranks = ranks, .count = Elements{std::int64_t{ranks} * 64 * kKiB}};
      add(fmt::format("all_to_all pairwise {} ranks on {} GPUs", ranks, gpus),
          find(CollectiveKind::all_to_all, "pairwise").make(collective, {}), gpus, Purpose::fit);
    }
  }

  void collectives(std::int64_t size, Purpose purpose) {
    for (const CollectiveKind kind : kProbedCollectives) {
      for (const Algorithm& algorithm : catalog()) {
        if (algorithm.kind != kind || algorithm.engine != Engine::none) { continue; }
        for (const std::uint32_t ranks : {4U, 8U}) { collective(algorithm, ranks, size, purpose); }
      }
    }
  }

  void collective(const Algorithm& algorithm, std::uint32_t ranks, std::int64_t size, Purpose purpose) {
    const Collective collective{.kind = algorithm.kind, .ranks = ranks, .count = Elements{size / 4}};
    if (algorithm.refuses(collective, {})) { return; }
    const auto add_on = [&](std::uint32_t gpus) {
      std::shared_ptr<const Schedule> schedule = algorithm.make(collective, {});
      std::uint64_t lanes = 0;
      for (AgentId agent{0}; agent.value < ranks; ++agent.value) { lanes += schedule->lanes(agent); }
      if (lanes > machine_.blocks) { return; }
      add(fmt::format("{} {} {} ranks {} on {} GPU{}", name(algorithm.kind), algorithm.name, ranks,
                      to_string(Bytes{size}), gpus, gpus == 1 ? "" : "s"),
          std::move(schedule), gpus, purpose);
    };
    add_on(1);
    if (machine_.gpus > 1 && machine_.gpus <= ranks) { add_on(machine_.gpus); }
  }

  GpuMachine machine_;
  std::vector<Probe> probes_;
};

}  // namespace

std::vector<Probe> gpu_probes(const GpuMachine& machine) { return GpuProbes(machine).all(); }

}  // namespace athanor
