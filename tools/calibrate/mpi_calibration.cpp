#include "tools/calibrate/mpi_calibration.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "models/execution/mapped_schedule.hpp"
#include "models/execution/pricing.hpp"
#include "models/execution/simulate.hpp"
#include "models/software/profile.hpp"
#include "sim/config/json_value.hpp"
#include "tools/calibrate/calibration_json.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Json = JsonValue;
using ProfileParameters = std::vector<FittedCost<Profile>>;

constexpr std::int64_t kParts = 10'000;  ///< in which a ratio is written

Protocol& protocol_of(Profile& profile) { return profile.protocols.front(); }
const Protocol& protocol_of(const Profile& profile) { return profile.protocols.front(); }

FittedCost<Profile> time(const char* name, double most_ms, Time (*get)(const Profile&), void (*set)(Profile&, Time)) {
  return {name,
          kNanosecond,
          most_ms * 1e6 * kNanosecond,
          true,
          [get](const Profile& profile) { return static_cast<double>(get(profile).count()); },
          [set](Profile& profile, double value) { set(profile, Time{std::llround(value)}); }};
}

FittedCost<Profile> rate(const char* name, Bandwidth Profile::*member) {
  return {name,
          1e-3 * kGigabyte,
          2000 * kGigabyte,
          false,
          [member](const Profile& profile) { return static_cast<double>((profile.*member).count()); },
          [member](Profile& profile, double value) { profile.*member = Bandwidth{std::llround(value)}; }};
}

/// Beyond 1 while it is looked for: links that are too slow for what was measured show by that.
FittedCost<Profile> payload() {
  return {"payload",
          1e-4,
          1.05,
          false,
          [](const Profile& profile) { return to_double(protocol_of(profile).payload); },
          [](Profile& profile, double value) {
            protocol_of(profile).payload = {std::max<std::int64_t>(1, std::llround(value * kParts)), kParts};
          }};
}

/// Of messages between two ranks.
ProfileParameters message_parameters() {
  return {time(
              "launch", 1000, [](const Profile& p) { return p.launch; }, [](Profile& p, Time t) { p.launch = t; }),
          time(
              "overhead", 100, [](const Profile& p) { return protocol_of(p).overhead; },
              [](Profile& p, Time t) { protocol_of(p).overhead = t; }),
          time(
              "latency", 100, [](const Profile& p) { return protocol_of(p).network.latency; },
              [](Profile& p, Time t) { protocol_of(p).network.latency = protocol_of(p).node.latency = t; }),
          payload()};
}

FittedCost<Profile> handshake() {
  return time(
      "handshake", 100, [](const Profile& p) { return protocol_of(p).handshake; },
      [](Profile& p, Time t) { protocol_of(p).handshake = t; });
}

Profile first_guess() {
  Profile profile;
  profile.launch = Time{1'000'000};
  profile.reduce_rate = profile.copy_rate = Bandwidth{5'000'000'000};
  profile.overlapped = false;
  Protocol protocol;
  protocol.name = "mpi";
  protocol.overhead = Time{500'000};
  protocol.network.latency = protocol.node.latency = Time{2'000'000};
  protocol.payload = {kParts / 2, kParts};
  protocol.send_end = SendEnd::copied;
  profile.protocols = {protocol};
  return profile;
}

class Fitting {
 public:
  Fitting(const std::vector<TimedProbe>& probes, const MpiFitSettings& settings)
      : told_(fitted(probes)), settings_(settings) {}

  Profile run() {
    Profile with_limit = limited();
    Profile best = with_limit;
    double least = std::numeric_limits<double>::max();
    for (const SendEnd end : {SendEnd::copied, SendEnd::injected}) {
      settings_.progress(end == SendEnd::copied ? "sends that are copied" : "sends that are injected");
      Profile tried = with_limit;
      protocol_of(tried).send_end = end;
      const double error = find(told_, parameters(tried), tried, 1.5);
      if (error < least) { std::tie(least, best) = std::pair(error, tried); }
    }
    refuse_implausible(best, parameters(best));
    Ratio& payload = protocol_of(best).payload;
    payload.numerator = std::min(payload.numerator, payload.denominator);
    return best;
  }

 private:
  double find(const std::vector<const TimedProbe*>& probes, const ProfileParameters& parameters, Profile& profile,
              double factor) const {
    return search<Profile>(
        probes, parameters, profile, factor, settings_.evaluations,
        [&](const Probe& probe, const Profile& costs) { return simulate_over_mpi(probe, *settings_.cluster, costs); });
  }

  static ProfileParameters parameters(const Profile& profile) {
    ProfileParameters all = joined(
        message_parameters(), {rate("reduce_rate", &Profile::reduce_rate), rate("copy_rate", &Profile::copy_rate)});
    if (protocol_of(profile).eager != Bytes::max()) { all.push_back(handshake()); }
    return all;
  }

  /// What messages back and forth tell: the eager limit, if one explains them clearly better than none.
  Profile limited() const {
    constexpr double kClearly = 0.9;
    settings_.progress("the eager limit");
    std::vector<const TimedProbe*> messages = told_;
    std::erase_if(messages, [](const TimedProbe* each) { return !each->probe.name.starts_with("back and forth"); });
    Profile best = first_guess();
    double least = kClearly * find(messages, message_parameters(), best, 3);
    const Profile without = best;
    for (std::int64_t limit = 512; limit <= 512 << 10; limit *= 2) {
      Profile tried = without;
      protocol_of(tried).eager = Bytes{limit};
      protocol_of(tried).handshake = protocol_of(tried).network.latency;
      const double error = find(messages, joined(message_parameters(), {handshake()}), tried, 2);
      if (error < least) { std::tie(least, best) = std::pair(error, tried); }
    }
    return best;
  }

  std::vector<const TimedProbe*> told_;
  const MpiFitSettings& settings_;
};

}  // namespace

std::string words_for(const Cluster& cluster) {
  const Fabric& fabric = *cluster.fabric;
  const Fabric::OutLinks out = fabric.out(cluster.endpoints.front());
  if (out.count == 0) { return cluster.description; }
  const Link& link = fabric.link(LinkId{out.first});
  return fmt::format("{}, links of {} and {}", cluster.description, to_string(link.usable), to_string(link.latency));
}

Time simulate_over_mpi(const Probe& probe, const Cluster& cluster, const Profile& profile) {
  const Schedule& schedule = *probe.schedule;
  const AgentKinds kinds{.devices = schedule.agent_count().ranks, .nvswitches = 0};
  const ProfilePricing pricing(*cluster.fabric, profile, protocol_of(profile), kinds, Bytes{4}, schedule.least_slots());
  const Placement placement{cluster.endpoints, 0};
  return profile.launch + simulate(schedule, cluster, placement, pricing, {}).time;
}

Profile fit_mpi_profile(std::vector<TimedProbe>& probes, const MpiFitSettings& settings) {
  const Profile found = Fitting(probes, settings).run();
  simulate_all(probes, [&](const Probe& probe) { return simulate_over_mpi(probe, *settings.cluster, found); });
  return found;
}

Json mpi_profile(const Profile& found, const MpiNote& note, const std::vector<TimedProbe>& probes) {
  Profile profile = found;
  profile.name = note.name;
  profile.description =
      fmt::format("{} between {} processes on {}; {}", note.library, note.ranks, note.machine, hold_out_text(probes));
  profile.source = "athanor calibrate --backend mpi";
  profile.machine = note.machine;
  profile.fitted.ranks = {note.ranks};
  return profile_json(profile, {{"date", note.date},
                                {"versions", note.versions},
                                {"library", note.library},
                                {"cluster", note.cluster},
                                {"fit", error_json(probes, Probe::Purpose::fit)},
                                {"hold_out", error_json(probes, Probe::Purpose::hold_out)},
                                {"probes", probes_json(probes)}});
}

std::vector<TimedProbe> mpi_probes_of(const std::string& path, MpiNote& note) {
  CalibratedDomain domain;
  std::vector<ProbeTime> times;
  const auto read = [&](Fields& fields) {
    fields.required("date", note.date, "Of the measurements");
    fields.required("versions", note.versions, "Of what measured");
    fields.required("library", note.library, "Of MPI");
    fields.required("cluster", note.cluster, "Between the processes");
    read_probes(fields, times);
  };
  const auto timed = [&] {
    note.machine = domain.machine;
    note.ranks = domain.ranks.empty() ? 2 : std::max(2U, domain.ranks.front());
    return matched(mpi_probes(note.ranks), times);
  };
  return read_calibrated(path, domain, read, timed);
}

}  // namespace athanor
