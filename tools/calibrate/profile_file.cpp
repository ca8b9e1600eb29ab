#include "tools/calibrate/profile_file.hpp"

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "sim/config/json_value.hpp"
#include "tools/calibrate/calibration_json.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

Json calibration_json(const CalibrationNote& note, const std::vector<TimedProbe>& probes) {
  Json caches = Json::list();
  for (const Bytes size : note.fit.private_caches) { caches.push_back(written(size)); }
  return {{"date", note.date},
          {"versions", note.versions},
          {"processors", note.fit.processors},
          {"private_caches", caches},
          {"fit", error_json(probes, Probe::Purpose::fit)},
          {"hold_out", error_json(probes, Probe::Purpose::hold_out)},
          {"probes", probes_json(probes)}};
}

void read_note(Fields& fields, CalibrationNote& note, std::vector<ProbeTime>& times) {
  fields.required("date", note.date, "Of the measurements");
  fields.required("versions", note.versions, "Of what measured");
  fields.required("processors", note.fit.processors, "That the workers had", {1, 4096});
  fields.required("private_caches", note.fit.private_caches, "Of one processor, from the nearest on");
  read_probes(fields, times);
}

}  // namespace

Json thread_profile(const ThreadCosts& costs, const CalibrationNote& note, const std::vector<TimedProbe>& probes) {
  Profile profile;
  profile.name = note.name;
  profile.description = fmt::format("threads on {}; {}", note.machine, hold_out_text(probes));
  profile.source = "athanor calibrate --backend threads";
  profile.machine = note.machine;
  profile.threads = costs;
  for (CacheLevel& level : profile.threads->caches) {
    level.size = Bytes{level.size.count() / 1024 * 1024};
    if (level.shared) { level.remote_rate = level.rate; }  // nobody's in particular
  }
  profile.fitted.ranks = note.ranks;
  return profile_json(profile, calibration_json(note, probes));
}

std::vector<TimedProbe> probes_of(const std::string& path, CalibrationNote& note) {
  CalibratedDomain domain;
  std::vector<ProbeTime> times;
  const auto timed = [&] {
    note.machine = domain.machine;
    note.ranks = domain.ranks;
    return matched(probes({.ranks = note.ranks, .processors = note.fit.processors}), times);
  };
  return read_calibrated(
      path, domain, [&](Fields& fields) { read_note(fields, note, times); }, timed);
}

}  // namespace athanor
