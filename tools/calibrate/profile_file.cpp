#include "tools/calibrate/profile_file.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/format.hpp"
#include "sim/json/object_reader.hpp"

namespace athanor {

namespace {

using Json = nlohmann::ordered_json;

/// To_string without the blank, as scenarios write quantities.
template <class Quantity>
std::string written(Quantity quantity) {
  std::string text = to_string(quantity);
  std::erase(text, ' ');
  return text;
}

Json caches_of(const ThreadCosts& costs) {
  Json caches = Json::array();
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

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

Json error_json(const std::vector<TimedProbe>& probes, Probe::Purpose purpose) {
  const FitError error = error_of(probes, purpose);
  return {{"points", error.points}, {"median_error", rounded(error.median)}, {"worst_error", rounded(error.worst)}};
}

Json probes_json(const std::vector<TimedProbe>& probes) {
  Json list = Json::array();
  for (const TimedProbe& each : probes) {
    list.push_back({{"probe", each.probe.name},
                    {"purpose", each.probe.purpose == Probe::Purpose::fit ? "fit" : "hold_out"},
                    {"measured", written(each.measured)},
                    {"simulated", written(each.simulated)}});
  }
  return list;
}

Json calibration_json(const CalibrationNote& note, const std::vector<TimedProbe>& probes) {
  Json caches = Json::array();
  for (const Bytes size : note.fit.private_caches) { caches.push_back(written(size)); }
  return {{"date", note.date},
          {"versions", note.versions},
          {"processors", note.fit.processors},
          {"private_caches", caches},
          {"fit", error_json(probes, Probe::Purpose::fit)},
          {"hold_out", error_json(probes, Probe::Purpose::hold_out)},
          {"probes", probes_json(probes)}};
}

struct ProbeText {
  std::string name;
  Time measured;
};

void read(ObjectReader& reader, ProbeText& probe) {
  reader.required("probe", probe.name, "Its name");
  reader.required("measured", probe.measured, "The median", {Time{1}});
  reader.elsewhere("purpose", "", nullptr);
  reader.elsewhere("simulated", "", nullptr);
}

void read(ObjectReader& reader, CalibrationNote& note, std::vector<ProbeText>& probes) {
  reader.required("date", note.date, "Of the measurements");
  reader.required("versions", note.versions, "Of what measured");
  reader.required("processors", note.fit.processors, "That the workers had", {1, 4096});
  reader.required("private_caches", note.fit.private_caches, "Of one processor, from the nearest on");
  reader.elsewhere("fit", "", nullptr);
  reader.elsewhere("hold_out", "", nullptr);
  reader.required_objects("probes", "What was timed",
                          [&](ObjectReader& fields) { read(fields, probes.emplace_back()); });
}

/// Names of today's probes to those that the file has times of; what the catalog has lost is left out.
std::vector<TimedProbe> matched(const std::vector<ProbeText>& texts, const CalibrationNote& note) {
  std::map<std::string, Time> times;
  for (const ProbeText& text : texts) { times.emplace(text.name, text.measured); }
  std::vector<TimedProbe> result;
  for (Probe& probe : probes({.ranks = note.ranks, .processors = note.fit.processors})) {
    const auto found = times.find(probe.name);
    if (found == times.end()) { continue; }
    result.push_back({std::move(probe), found->second, {}});
  }
  return result;
}

}  // namespace

Json thread_profile(const ThreadCosts& costs, const CalibrationNote& note, const std::vector<TimedProbe>& probes) {
  const FitError error = error_of(probes, Probe::Purpose::hold_out);
  return {{"name", note.name},
          {"description", fmt::format("threads on {}; hold-out error {:.1f} % (median), {:.1f} % (worst)", note.machine,
                                      error.median * 100, error.worst * 100)},
          {"source", "athanor calibrate --backend threads"},
          {"machine", note.machine},
          {"threads", costs_json(costs)},
          {"fitted", {{"ranks", note.ranks}}},
          {"calibration", calibration_json(note, probes)}};
}

std::vector<TimedProbe> probes_of(const std::string& path, CalibrationNote& note) {
  const Document document = Document::load(path);
  Problems problems;
  std::vector<ProbeText> texts;
  read_document(document, problems, [&](ObjectReader& reader) {
    for (const char* key : {"name", "description", "source", "threads"}) { reader.elsewhere(key, "", nullptr); }
    reader.required("machine", note.machine, "That was measured");
    reader.required_object("fitted", "The domain", [&](ObjectReader& fields) {
      fields.required("ranks", note.ranks, "", {2, 4096});
    });
    reader.required_object("calibration", "What it was fitted on",
                           [&](ObjectReader& fields) { read(fields, note, texts); });
  });
  problems.throw_if_any();
  std::vector<TimedProbe> result = matched(texts, note);
  if (result.empty()) {
    problems.add({"no-probes", "none of its probes is one of this version", document.place("/calibration/probes"),
                  "measure again: athanor calibrate without --refit"});
  }
  problems.throw_if_any();
  return result;
}

}  // namespace athanor
