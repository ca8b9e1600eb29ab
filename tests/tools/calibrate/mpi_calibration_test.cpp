#include "tools/calibrate/mpi_calibration.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/experiments/scenario/profile_section.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/sanitized.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

Profile known_profile() {
  Profile profile;
  profile.launch = 3_us;
  profile.reduce_rate = 8_GBps;
  profile.copy_rate = 11_GBps;
  profile.overlapped = false;
  Protocol protocol;
  protocol.name = "mpi";
  protocol.overhead = 400_ns;
  protocol.network.latency = protocol.node.latency = 1500_ns;
  protocol.payload = {9, 10};
  protocol.eager = 16_KiB;
  protocol.handshake = 4_us;
  protocol.send_end = SendEnd::copied;
  profile.protocols = {protocol};
  return profile;
}

Cluster three_hosts() {
  CableSpec cable;
  cable.rate = cable.usable = 3_GBps;
  cable.propagation = 200_ns;
  return star(hosts(3), cable);
}

std::vector<TimedProbe> timed_by_the_model(const Cluster& cluster, const Profile& profile) {
  std::vector<TimedProbe> timed;
  for (Probe& probe : mpi_probes(3)) {
    const Time time = simulate_over_mpi(probe, cluster, profile);
    timed.push_back({std::move(probe), time, {}});
  }
  return timed;
}

double off(auto found, auto known) {
  return std::abs(static_cast<double>(found.count()) / static_cast<double>(known.count()) - 1);
}

}  // namespace

TEST_CASE("the profile with which the model itself was timed is found again" * doctest::skip(kSanitized)) {
  const Cluster cluster = three_hosts();
  const Profile known = known_profile();
  std::vector<TimedProbe> timed = timed_by_the_model(cluster, known);
  const Profile found = fit_mpi_profile(timed, {.cluster = &cluster});
  const Protocol& protocol = found.protocols.front();
  CHECK(protocol.eager == 16_KiB);
  CHECK(protocol.send_end == SendEnd::copied);
  CHECK(off(protocol.handshake, 4_us) < 0.1);
  CHECK(off(protocol.network.latency, 1500_ns) < 0.1);
  CHECK(off(protocol.overhead, 400_ns) < 0.15);
  CHECK(off(found.launch, 3_us) < 0.15);
  CHECK(std::abs(to_double(protocol.payload) - 0.9) < 0.01);
  CHECK(off(found.reduce_rate, 8_GBps) < 0.05);
  CHECK(off(found.copy_rate, 11_GBps) < 0.05);
  CHECK(error_of(timed, Probe::Purpose::hold_out).median < 0.01);
  CHECK(error_of(timed, Probe::Purpose::hold_out).points > 50);
}

TEST_CASE("without an eager limit none is found, and links that are slower than what was measured are refused" *
          doctest::skip(kSanitized)) {
  const Cluster cluster = three_hosts();
  Profile known = known_profile();
  known.protocols.front().eager = Bytes::max();
  known.protocols.front().handshake = Time::zero();
  std::vector<TimedProbe> timed = timed_by_the_model(cluster, known);
  CHECK(fit_mpi_profile(timed, {.cluster = &cluster}).protocols.front().eager == Bytes::max());
  CableSpec slow;
  slow.rate = slow.usable = 1_GBps;
  const Cluster other = star(hosts(3), slow);
  CHECK_THROWS_WITH_AS(fit_mpi_profile(timed, {.cluster = &other}), doctest::Contains("payload"), SimulationError);
}

TEST_CASE("a search of MPI's costs that is cut short predicts every probe, if not well") {
  const Cluster cluster = three_hosts();
  std::vector<TimedProbe> timed = timed_by_the_model(cluster, known_profile());
  const Profile found = fit_mpi_profile(timed, {.cluster = &cluster, .evaluations = 10});
  CHECK(found.protocols.size() == 1);
  for (const TimedProbe& each : timed) { CHECK(each.simulated == simulate_over_mpi(each.probe, cluster, found)); }
}

TEST_CASE("the profile that is written can be simulated with, and fitted again") {
  const Cluster cluster = three_hosts();
  std::vector<TimedProbe> timed = timed_by_the_model(cluster, known_profile());
  for (TimedProbe& each : timed) { each.simulated = each.measured; }
  const MpiNote note{"mine", "a machine", "2026-01-01", "1", "Some MPI 9", words_for(cluster), 3};
  const Folder folder;
  const std::string path = folder.write("mine.json", text_of(mpi_profile(known_profile(), note, timed), 2));
  Problems problems;
  const Profile read = read_profile_file(FileReader(), path, problems);
  CHECK(problems.empty());
  CHECK(read.protocols.front().eager == 16_KiB);
  CHECK(read.protocols.front().handshake == 4_us);
  for (const TimedProbe& each : timed) { CHECK(simulate_over_mpi(each.probe, cluster, read) == each.measured); }
  MpiNote again;
  CHECK(mpi_probes_of(path, again).size() == timed.size());
  CHECK(again.ranks == 3);
  CHECK(again.library == "Some MPI 9");
  const Ran elsewhere =
      athanor_run({"calibrate", "--backend", "mpi", "--refit", path, "--output", folder.path("n.json")});
  CHECK(elsewhere.code == 2);
  CHECK(elsewhere.says("name its scenario with --cluster"));
}

TEST_CASE("options that do not go with the backend are refused") {
  CHECK(athanor_run({"calibrate", "--backend", "mpi", "--ranks", "4", "-o", "x"}).says("one rank per process"));
  CHECK(athanor_run({"calibrate", "--cluster", "x.json", "-o", "x"}).says("goes with --backend mpi"));
  const Ran unknown = athanor_run({"calibrate", "--backend", "smoke", "-o", "x"});
  CHECK(unknown.code == 2);
  CHECK(unknown.says("there is no backend 'smoke'"));
}
