#include "tools/calibrate/calibration_json.hpp"

#include <cmath>
#include <map>

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "sim/config/json_value.hpp"
#include "sim/file.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

void visit(Fields& fields, ProbeTime& probe) {
  fields.required("probe", probe.name, "Its name");
  fields.required("measured", probe.measured, "The median", {Time{1}});
  fields.elsewhere("purpose", "", nullptr);
  fields.elsewhere("simulated", "", nullptr);
}

}  // namespace

Json profile_json(const Profile& profile, JsonValue calibration) {
  Json json = json_of(profile);
  json["calibration"] = std::move(calibration);
  return json;
}

Json error_json(const std::vector<TimedProbe>& probes, Probe::Purpose purpose) {
  const FitError error = error_of(probes, purpose);
  return {{"points", error.points}, {"median_error", rounded(error.median)}, {"worst_error", rounded(error.worst)}};
}

std::string hold_out_text(const std::vector<TimedProbe>& probes) {
  const FitError error = error_of(probes, Probe::Purpose::hold_out);
  return fmt::format("hold-out error {:.1f} % (median), {:.1f} % (worst)", error.median * 100, error.worst * 100);
}

Json probes_json(const std::vector<TimedProbe>& probes) {
  Json list = Json::list();
  for (const TimedProbe& each : probes) {
    list.push_back({{"probe", each.probe.name},
                    {"purpose", each.probe.purpose == Probe::Purpose::fit ? "fit" : "hold_out"},
                    {"measured", written(each.measured)},
                    {"simulated", written(each.simulated)}});
  }
  return list;
}

void read_probes(Fields& fields, std::vector<ProbeTime>& times) {
  fields.elsewhere("fit", "", nullptr);
  fields.elsewhere("hold_out", "", nullptr);
  fields.required_objects("probes", "What was timed", [&](Fields& inner) { visit(inner, times.emplace_back()); });
}

std::vector<TimedProbe> matched(std::vector<Probe> today, const std::vector<ProbeTime>& times) {
  std::map<std::string, Time> by_name;
  for (const ProbeTime& time : times) { by_name.emplace(time.name, time.measured); }
  std::vector<TimedProbe> result;
  for (Probe& probe : today) {
    const auto found = by_name.find(probe.name);
    if (found == by_name.end()) { continue; }
    result.push_back({std::move(probe), found->second, {}});
  }
  return result;
}

std::vector<TimedProbe> read_calibrated(const std::string& path, CalibratedDomain& domain,
                                        const std::function<void(Fields&)>& read_calibration,
                                        const std::function<std::vector<TimedProbe>()>& timed) {
  const Document document = Document::load(FileReader(), path);
  Problems problems;
  read_document(document, problems, [&](Fields& fields) {
    for (const char* key : {"name", "description", "source", "threads", "gpus", "launch", "reduce_rate", "copy_rate",
                            "overlapped", "protocols"}) {
      fields.elsewhere(key, "", nullptr);
    }
    fields.required("machine", domain.machine, "That was measured");
    fields.required_object("fitted", "The domain", [&](Fields& inner) {
      inner.required("ranks", domain.ranks, "", {1, 1U << 20U});
      for (const char* key : {"collectives", "measurements", "from", "to"}) { inner.elsewhere(key, "", nullptr); }
    });
    fields.required_object("calibration", "What it was fitted on", read_calibration);
  });
  problems.throw_if_any();
  std::vector<TimedProbe> result = timed();
  if (result.empty()) {
    problems.add({"no-probes", "none of its probes is one of this version", document.place("/calibration/probes"),
                  "measure again: athanor calibrate without --refit"});
  }
  problems.throw_if_any();
  return result;
}

}  // namespace athanor
