#include "tools/calibrate/probes.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/probe_schedules.hpp"

namespace athanor {

namespace {

using Purpose = Probe::Purpose;

class ThreadProbes {
 public:
  explicit ThreadProbes(const ProbeSettings& settings) : settings_(settings) {}

  std::vector<Probe> all() {
    copies();
    if (settings_.processors > 1) { couples(); }
    const std::uint32_t processors = settings_.processors;
    collectives(64, 1, Purpose::fit);
    if (processors == 1) { return std::move(probes_); }
    for (const std::int64_t size : {std::int64_t{64}, kKiB, 16 * kKiB, 256 * kKiB, 4 * kMiB, 16 * kMiB}) {
      collectives(size, processors, Purpose::fit);
    }
    for (const std::int64_t size : {256 * std::int64_t{1}, 4 * kKiB, 64 * kKiB, kMiB, 8 * kMiB}) {
      collectives(size, processors, Purpose::hold_out);
    }
    return std::move(probes_);
  }

 private:
  void add(std::string name, std::shared_ptr<const Schedule> schedule, std::uint32_t workers, Purpose purpose) {
    probes_.push_back({std::move(name), std::move(schedule), workers, purpose});
  }

  /// A copy of each working set that lasts for long enough to be timed, from the nearest cache to memory.
  void copies() {
    for (std::int64_t size = 4 * kKiB; size <= settings_.largest_copy.count(); size *= 2) {
      const auto passes = static_cast<std::uint32_t>(std::clamp<std::int64_t>(2 * kMiB / size, 2, 64));
      add(fmt::format("copy {} x {}", to_string(Bytes{size}), passes), copying(size, passes), 1, Purpose::fit);
    }
  }

  void couples() {
    for (const std::uint32_t messages : {10U, 300U}) {
      add(fmt::format("stream {}", messages), stream(messages), 2, Purpose::fit);
    }
    for (const std::uint32_t hops : {1U, 10U, 300U}) {
      add(fmt::format("ping-pong {}", hops), ping_pong(hops), 2, Purpose::fit);
    }
    for (const std::int64_t bytes : {std::int64_t{64}, 4 * kKiB, 16 * kKiB, 128 * kKiB, 512 * kKiB, kMiB}) {
      const std::uint32_t rounds = bytes > 64 * kKiB ? 4 : 16;
      add(fmt::format("fetch {} x {}", to_string(Bytes{bytes}), rounds), fetching(rounds, bytes), 2, Purpose::fit);
    }
    for (const std::uint32_t copies : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 256U}) {
      add(fmt::format("wait for {} copies", copies), working_and_calling(8, copies), 2, Purpose::fit);
    }
  }

  void collectives(std::int64_t size, std::uint32_t workers, Purpose purpose) {
    for (const CollectiveKind kind : kProbedCollectives) {
      for (const Algorithm& algorithm : catalog()) {
        if (algorithm.kind != kind || algorithm.engine != Engine::none) { continue; }
        for (const std::uint32_t ranks : settings_.ranks) { collective(algorithm, ranks, size, workers, purpose); }
      }
    }
  }

  void collective(const Algorithm& algorithm, std::uint32_t ranks, std::int64_t size, std::uint32_t workers,
                  Purpose purpose) {
    const Collective collective{.kind = algorithm.kind, .ranks = ranks, .count = Elements{size / 4}};
    if (algorithm.refuses(collective, {})) { return; }
    const std::uint32_t used = std::min(workers, ranks);
    add(fmt::format("{} {} {} ranks {} on {}", name(algorithm.kind), algorithm.name, ranks, to_string(Bytes{size}),
                    used),
        algorithm.make(collective, {}), used, purpose);
  }

  const ProbeSettings& settings_;
  std::vector<Probe> probes_;
};

}  // namespace

std::vector<Probe> probes(const ProbeSettings& settings) { return ThreadProbes(settings).all(); }

}  // namespace athanor
