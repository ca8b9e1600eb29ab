#include "tools/calibrate/profile_file.hpp"

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "tools/calibrate/calibration_json.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

Json caches_of(const ThreadCosts& costs) {
  Json caches = Json::list();
  for (const CacheLevel& level : costs.caches) {
    Json cache{{"size", written(Bytes{level.size.count() / 1024 * 1024})}, {"rate", written(level.rate)}};
    if (level.shared) {
      cache["shared"] = true;
    } else {
      cache["remote_rate"] = written(level.remote_rate);
    }
    caches.push_back(cache);
  }
  return caches;
}

Json costs_json(const ThreadCosts& costs) {
  Json json{{"start", written(costs.start)},
            {"meeting", written(costs.meeting)},
            {"lane", written(costs.lane)},
            {"turn", written(costs.turn)},
            {"primitive", written(costs.primitive)},
            {"port", written(costs.port)},
            {"remote_port", written(costs.remote_port)},
            {"notice", written(costs.notice)}};
  if (costs.patience != Time::max()) { json["patience"] = written(costs.patience); }
  json["wake"] = written(costs.wake);
  json["caches"] = caches_of(costs);
  json["memory_rate"] = written(costs.memory_rate);
  json["remote_latency"] = written(costs.remote_latency);
  return json;
}

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

void read(ObjectReader& reader, CalibrationNote& note, std::vector<ProbeTime>& times) {
  reader.required("date", note.date, "Of the measurements");
  reader.required("versions", note.versions, "Of what measured");
  reader.required("processors", note.fit.processors, "That the workers had", {1, 4096});
  reader.required("private_caches", note.fit.private_caches, "Of one processor, from the nearest on");
  read_probes(reader, times);
}

}  // namespace

Json thread_profile(const ThreadCosts& costs, const CalibrationNote& note, const std::vector<TimedProbe>& probes) {
  return {{"name", note.name},
          {"description", fmt::format("threads on {}; {}", note.machine, hold_out_text(probes))},
          {"source", "athanor calibrate --backend threads"},
          {"machine", note.machine},
          {"threads", costs_json(costs)},
          {"fitted", {{"ranks", note.ranks}}},
          {"calibration", calibration_json(note, probes)}};
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
      path, domain, [&](ObjectReader& reader) { read(reader, note, times); }, timed);
}

}  // namespace athanor
