#include <algorithm>
#include <exception>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/mpi_calibration.hpp"
#include "tools/calibrate/mpi_task.hpp"
#include "tools/cli/errors.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/streams.hpp"
#include "tools/describe/named_clusters.hpp"
#include "tools/measure/machine.hpp"
#include "tools/measure/mpi_backend.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// What lies between the processes.
std::shared_ptr<const Cluster> cluster_of(const CalibrateOptions& options, std::uint32_t ranks) {
  if (!options.cluster) { return std::make_shared<const Cluster>(assumed_cluster(ranks)); }
  const std::vector<NamedCluster> clusters =
      named_clusters_of(*options.cluster, options.common.library, changes_of(options.scenario));
  const NamedCluster& named = the_only(clusters, "--cluster takes");
  if (named.cluster->processors > 0) {
    throw UsageError("calibrate: --cluster: threads on shared memory are no network; calibrate --backend threads");
  }
  if (named.cluster->endpoints.size() != ranks) {
    throw UsageError(
        fmt::format("calibrate: --cluster: {} has {} endpoints, and there are {} MPI processes; start one "
                    "for each endpoint",
                    named.name, named.cluster->endpoints.size(), ranks));
  }
  return named.cluster;
}

std::string library_of(const Backend& backend) {
  std::string text;
  for (const auto& [key, value] : backend.facts()) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", key == "mpi" ? value : key + " " + value);
  }
  return text;
}

Time median_of(std::vector<Time> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::string summary(const Profile& profile, const std::vector<TimedProbe>& probes) {
  const Protocol& protocol = profile.protocols.front();
  std::string text;
  const auto time = [&](const char* name, Time cost) {
    text += fmt::format("# {:<12} {:>10.3f} us\n", name, static_cast<double>(cost.count()) * 1e-6);
  };
  time("launch", profile.launch);
  time("overhead", protocol.overhead);
  time("latency", protocol.network.latency);
  if (protocol.eager != Bytes::max()) {
    text += fmt::format("# {:<12} {:>10}\n", "eager", to_string(protocol.eager));
    time("handshake", protocol.handshake);
  }
  text += fmt::format("# {:<12} {:>10.4f}\n", "payload", to_double(protocol.payload));
  text += fmt::format("# {:<12} {:>10}\n", "send_end", protocol.send_end == SendEnd::copied ? "copied" : "injected");
  text += fmt::format("# {:<12} {:>10.2f} GB/s\n", "reduce_rate", gigabytes_per_second(profile.reduce_rate));
  text += fmt::format("# {:<12} {:>10.2f} GB/s\n", "copy_rate", gigabytes_per_second(profile.copy_rate));
  return text + error_lines(probes);
}

}  // namespace

MpiTask mpi_task(const CalibrateOptions& options, const MpiBackend& backend) {
  MpiTask task;
  task.note.ranks = *backend.ranks();
  if (task.note.ranks < 2) {
    throw UsageError("calibrate: --backend mpi takes two processes at least, as in `mpirun -n 2 athanor calibrate`");
  }
  task.note.name = profile_name(options);
  task.note.machine = machine_id(this_machine());
  task.note.date = calibration_date();
  task.note.versions = calibration_versions();
  task.note.library = library_of(backend);
  task.cluster = cluster_of(options, task.note.ranks);
  task.note.cluster = words_for(*task.cluster);
  task.probes = mpi_probes(task.note.ranks);
  if (options.quick) { task.rounds = 1; }
  if (backend.speaks()) { check_writable(options.output); }
  return task;
}

std::optional<std::vector<TimedProbe>> measured(MpiTask& task, MpiBackend& backend, const Streams& streams,
                                                Progress& progress) {
  constexpr std::chrono::milliseconds kPatience{15};
  std::vector<std::vector<Time>> times(task.probes.size());
  for (std::uint32_t round = 0; round < task.rounds; ++round) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (backend.any(streams.interrupted())) { return std::nullopt; }
      progress.show(
          fmt::format("calibrating: measured {} of {}", round * times.size() + i, task.rounds * times.size()));
      for (const std::chrono::nanoseconds time : backend.time(*task.probes[i].schedule, kPatience)) {
        times[i].emplace_back(time.count() * 1000);
      }
    }
  }
  std::vector<TimedProbe> result;
  for (std::size_t i = 0; i < times.size(); ++i) {
    result.push_back({std::move(task.probes[i]), median_of(std::move(times[i])), {}});
  }
  return result;
}

Calibrated fitted_over_mpi(const MpiNote& note, const Cluster& cluster, std::vector<TimedProbe>& probes,
                           Progress& progress) {
  const auto tell = [&](const std::string& what) { progress.show("calibrating: " + what); };
  const Profile profile = fit_mpi_profile(probes, {.cluster = &cluster, .progress = tell});
  progress.clear();
  return {mpi_profile(profile, note, probes), summary(profile, probes)};
}

namespace {

ExitCode refit(const CalibrateOptions& options, const Streams& streams) {
  MpiNote note;
  std::vector<TimedProbe> probes = mpi_probes_of(*options.refit, note);
  note.name = profile_name(options);
  const auto cluster = cluster_of(options, note.ranks);
  if (words_for(*cluster) != note.cluster) {
    throw UsageError(
        fmt::format("calibrate: --refit: {} was measured on {}, and this is {}; name its scenario with "
                    "--cluster",
                    *options.refit, note.cluster, words_for(*cluster)));
  }
  Progress progress(streams, !options.common.quiet);
  write_profile(options, streams, fitted_over_mpi(note, *cluster, probes, progress));
  return ExitCode::ok;
}

}  // namespace

ExitCode calibrate_over_mpi(const CalibrateOptions& options, const Streams& streams) {
  if (options.refit) { return refit(options, streams); }
  std::unique_ptr<MpiBackend> backend = make_mpi_backend();
  const bool speaks = backend->speaks();
  MpiTask task;
  std::exception_ptr error;
  try {
    task = mpi_task(options, *backend);
  } catch (const std::exception&) { error = std::current_exception(); }
  if (backend->any(error != nullptr)) {
    if (error && speaks) { std::rethrow_exception(error); }
    return silent_end(error);
  }
  Progress progress(streams, speaks && !options.common.quiet);
  auto probes = measured(task, *backend, streams, progress);
  backend.reset();  // the other processes end here, so that the fit has the processors
  if (!probes) { return ExitCode::interrupted; }
  if (speaks) { write_profile(options, streams, fitted_over_mpi(task.note, *task.cluster, *probes, progress)); }
  return ExitCode::ok;
}

}  // namespace athanor
