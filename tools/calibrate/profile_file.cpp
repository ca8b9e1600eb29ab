#include "tools/calibrate/profile_file.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/format.hpp"

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

Json hold_out_json(const std::vector<HeldOut>& rows) {
  const HoldOutError error = error_of(rows);
  Json json{{"points", rows.size()},
            {"median_error", rounded(error.median)},
            {"worst_error", rounded(error.worst)},
            {"rows", Json::array()}};
  for (const HeldOut& row : rows) {
    json["rows"].push_back({{"collective", row.collective},
                            {"algorithm", row.algorithm},
                            {"ranks", row.ranks},
                            {"bytes", row.bytes.count()},
                            {"measured_us", rounded(row.measured_us)},
                            {"simulated_us", rounded(row.simulated_us)}});
  }
  return json;
}

}  // namespace

Json thread_profile(const ThreadCosts& costs, const CalibrationNote& note, const std::vector<HeldOut>& held_out) {
  const HoldOutError error = error_of(held_out);
  return {{"name", note.name},
          {"description", fmt::format("threads on {}; hold-out error {:.1f} % (median), {:.1f} % (worst)", note.machine,
                                      error.median * 100, error.worst * 100)},
          {"source", "athanor calibrate --backend threads"},
          {"machine", note.machine},
          {"threads", costs_json(costs)},
          {"fitted", {{"ranks", note.ranks}}},
          {"calibration",
           {{"date", note.date},
            {"versions", note.versions},
            {"fitted_on",
             "copies over growing working sets; reduce_scatter, all_gather, broadcast, reduce and all_to_all of 256 B "
             "on one processor by "
             "all algorithms; probes of two ranks"},
            {"hold_out", hold_out_json(held_out)}}}};
}

}  // namespace athanor
