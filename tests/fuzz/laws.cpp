#include "tests/fuzz/laws.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/fuzz/random_trace.hpp"
#include "tests/fuzz/random_workload.hpp"
#include "tests/fuzz/scenario_variants.hpp"
#include "tests/fuzz/tolerances.hpp"
#include "tests/json_tree.hpp"
#include "tools/cli/run_command_line.hpp"

namespace athanor::fuzz {

namespace {

/// The results of one run.
struct Results {
  int code = 0;
  std::string text;  ///< what it wrote, where it failed
  Json rows;         ///< without what names the file
};

/// Times of a row that should follow the laws, in picoseconds; of several jobs first that of all.
std::vector<double> times_of(const Json& row) {
  std::vector<double> times;
  for (const char* key : {"time_us", "completion_us_max", "iteration_us_mean"}) {
    if (row.contains(key)) { times.push_back(row[key].get<double>() * 1e6); }
  }
  if (row.contains("step_time_s")) { times.push_back(row["step_time_s"].get<double>() * 1e12); }
  return times;
}

class Court {
 public:
  Court(const Json& scenario, std::string folder, std::string data, RandomStream& random)
      : scenario_(scenario), folder_(std::move(folder)), data_(std::move(data)), random_(random) {}

  Verdict judge() {
    const Results base = run(scenario_, ports_option());
    verdict_.outcome = static_cast<std::uint32_t>(std::min<int>(base.code, kMostOutcomes - 1));
    verdict_.group = group();
    if (base.code != 0) {
      const bool defect = base.text.find("defect of athanor") != std::string::npos ||
                          base.text.find("broken invariant") != std::string::npos;
      if (defect || base.code > 4) { verdict_.fault = "defect: " + base.text.substr(0, 300); }
      check_naming(base);
      return verdict_;
    }
    check_naming(base);
    check_rows(base);
    check_ports();
    check_size(base);
    std::vector<std::string> unfolded = ports_option();
    unfolded.insert(unfolded.end(), {"--no-classes", "--no-repeat"});
    check_same(Law::folding, base, run(scenario_, unfolded));
    check_bytes(base);
    check_same(Law::spelling, base, run(respelled(scenario_, random_), {}));
    const Json faster = with_rates(scenario_, 2);
    check_not_slower(Law::rate, base, run(faster, {}));
    check_not_slower(Law::latency, base, run(with_latencies(scenario_, 1, 2), {}));
    check_half(base, run(with_latencies(faster, 1, 2), {}));
    return verdict_;
  }

 private:
  std::string ports_path() const { return folder_ + "/ports.csv"; }
  bool has_ports() const {
    return (scenario_.contains("collective") || scenario_.contains("traffic")) &&
           scenario_["network"]["level"] != "ideal";
  }
  std::vector<std::string> ports_option() const {
    if (!has_ports()) { return {}; }
    return {"--ports", ports_path()};
  }

  std::uint32_t group() const {
    const auto found = std::find_if(kSubjects.begin(), kSubjects.end(),
                                    [&](const char* section) { return scenario_.contains(section); });
    return static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(found - kSubjects.begin(), kSubjects.size() - 1));
  }

  Results run(const Json& scenario, const std::vector<std::string>& more) const {
    const std::string path = folder_ + "/scenario.json";
    if (scenario.contains("trace") && scenario["trace"].contains("own")) {
      std::ofstream(folder_ + "/trace.json") << text_of(scenario["trace"]["own"]);
      std::ofstream(path) << text_of(with_trace_in(scenario, "trace.json"));
    } else {
      std::ofstream(path) << text_of(scenario);
    }
    std::vector<std::string> words{"run", path, "--data", data_, "--json", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    Results results;
    std::string errors;
    const Streams streams{.out = [&](std::string_view text) { results.text += text; },
                          .err = [&](std::string_view text) { errors += text; },
                          .progress = false,
                          .colour = false,
                          .interrupted = [] { return false; }};
    results.code = static_cast<int>(run_command_line(words, streams));
    if (results.code != 0) {
      results.text = errors;
      return results;
    }
    results.rows = Json::parse(results.text)["results"];
    for (Json& row : results.rows) {
      for (const char* key : {"scenario", "case", "notes"}) { row.erase(key); }
    }
    return results;
  }

  void hold(Law law) { verdict_.held |= std::uint64_t{1} << static_cast<unsigned>(law); }
  void broken(Law law, const std::string& how) {
    if (verdict_.fault.empty()) { verdict_.fault = fmt::format("{}: {}", name(law), how); }
  }

  void check_naming(const Results& base) {
    const std::string unknown = kUnknown;
    if (text_of(scenario_).find(unknown) == std::string::npos) { return; }
    hold(Law::naming);
    if (base.code == 0 || base.text.find(unknown) == std::string::npos) {
      broken(Law::naming, fmt::format("status {}: {}", base.code, base.text.substr(0, 300)));
    }
  }

  /// Ends and bound by their keys, in any unit. A simulated time may lie outside: errors have a middle of their own.
  void check_interval(const Json& row, const char* time, const char* low, const char* high, const char* bound) {
    if (!row.contains(low)) { return; }
    hold(Law::interval);
    const double least = row[low].get<double>();
    const double most = row.value(high, 0.0);
    // Where even the simulated time is below the bound, as messages that share no links may be, it is the least.
    const double allowed = std::min(row.value(bound, 0.0), row[time].get<double>());
    if (least > 0 && least < most && least >= allowed * (1 - 1e-9) && row.contains("known")) { return; }
    broken(Law::interval, fmt::format("from {} to {}, the bound is {}", least, most, allowed));
  }

  void check_share(const Json& row, const char* key) {
    if (!row.contains(key)) { return; }
    hold(Law::shares);
    const double share = row[key].get<double>();
    if (!(share >= 0 && share <= 1 + 1e-9)) { broken(Law::shares, fmt::format("{} is {}", key, share)); }
  }

  /// Where the time of a step went.
  void check_breakdown(const Json& row) {
    if (!row.contains("breakdown")) { return; }
    hold(Law::shares);
    double all = 0;
    for (const auto& [part, share] : row["breakdown"].items()) { all += share.get<double>(); }
    if (std::abs(all - 1) > 1e-6) { broken(Law::shares, fmt::format("the parts of a step add up to {}", all)); }
  }

  void check_rows(const Results& base) {
    for (const Json& row : base.rows) {
      check_bound(row);
      check_interval(row, "time_us", "time_low_us", "time_high_us", "bound_time_us");
      check_interval(row, "step_time_s", "step_time_low_s", "step_time_high_s", "");
      for (const char* key :
           {"waiting", "overlap", "fairness", "server_busy", "throughput_ratio", "throughput_ratio_least"}) {
        check_share(row, key);
      }
      check_breakdown(row);
      if (row.contains("busiest_utilisation") && scenario_["network"]["level"] != "ideal") {
        hold(Law::utilisation);
        const double share = row["busiest_utilisation"].get<double>();
        if (share > 1 + 1e-9) { broken(Law::utilisation, fmt::format("busiest_utilisation is {}", share)); }
      }
      if (!row.contains("jobs")) { continue; }
      for (const Json& job : row["jobs"]) { check_job(job); }
    }
  }

  void check_bound(const Json& row) {
    if (scenario_.contains("trace") && scenario_["trace"].contains("bound_ps")) {
      hold(Law::bound);
      const double least = scenario_["trace"]["bound_ps"].get<double>();
      const double time = times_of(row).front();
      if (time < least * (1 - 1e-9) - 2) {
        broken(Law::bound, fmt::format("{} ps, and the bound is {} ps", time, least));
      }
      return;
    }
    // At the ideal level messages do not share links: several channels together are faster than the hardware.
    if (scenario_["network"]["level"] == "ideal" || !row.contains("bound_time_us") || !row.contains("time_us")) {
      return;
    }
    hold(Law::bound);
    if (row["time_us"].get<double>() >= row["bound_time_us"].get<double>() * (1 - 1e-12)) { return; }
    broken(Law::bound,
           fmt::format("{} us, and the bound is {} us", text_of(row["time_us"]), text_of(row["bound_time_us"])));
  }

  void check_job(const Json& job) {
    check_bound(job);
    if (!job.contains("slowdown")) { return; }
    hold(Law::company);
    const double least = least_slowdown(scenario_);
    if (job["slowdown"].get<double>() < least - 1e-9) {
      broken(Law::company, fmt::format("slowdown {} of job {}", text_of(job["slowdown"]), text_of(job["job"])));
    }
  }

  /// Lines of --ports by the key in their header.
  std::vector<std::map<std::string, std::string>> ports() const {
    std::istringstream text(read_text_file(ports_path()));
    std::vector<std::string> keys;
    std::vector<std::map<std::string, std::string>> lines;
    for (std::string line; std::getline(text, line);) {
      std::istringstream fields(line);
      std::vector<std::string> words;
      for (std::string word; std::getline(fields, word, ',');) { words.push_back(word); }
      if (keys.empty()) {
        keys = words;
        continue;
      }
      auto& ported = lines.emplace_back();
      for (std::size_t i = 0; i < keys.size() && i < words.size(); ++i) { ported[keys[i]] = words[i]; }
    }
    return lines;
  }

  void check_ports() {
    if (!has_ports()) { return; }
    for (const auto& port : ports()) {
      hold(Law::utilisation);
      const double share = std::stod(port.at("utilisation"));
      if (share > 1 + 1e-6) {
        broken(Law::utilisation, fmt::format("{} -> {} is busy for {}", port.at("from"), port.at("to"), share));
      }
    }
  }

  /// Of every agent's own ports: those of a class stand for others. Where links of two kinds meet, as in a NIC, packets
  /// have other headers behind than before.
  void check_bytes(const Results& base) {
    if (!has_ports() || scenario_["network"]["level"] != "packet") { return; }
    struct Vertex {
      std::int64_t in = 0;
      std::int64_t out = 0;
      bool loses = false;
      std::set<std::string> kinds;  ///< of links
    };
    std::map<std::pair<std::string, std::string>, Vertex> vertices;  // by size and name
    for (const auto& port : ports()) {
      const std::string& size = port.at("bytes_asked");
      const std::int64_t bytes = std::stoll(port.at("data_bytes"));
      const bool loses = port.at("dropped") != "0" || port.at("trimmed") != "0" || port.at("ports") != "1";
      Vertex& from = vertices[{size, port.at("from")}];
      Vertex& to = vertices[{size, port.at("to")}];
      from.out += bytes;
      to.in += bytes;
      from.loses = from.loses || loses;
      to.loses = to.loses || loses;
      from.kinds.insert(port.at("kind"));
      to.kinds.insert(port.at("kind"));
    }
    const bool engines = std::any_of(base.rows.begin(), base.rows.end(), [](const Json& row) {
      return row.value("algorithm", std::string()).starts_with("nvls");  // NVSwitches copy and reduce
    });
    for (const auto& [where, vertex] : vertices) {
      const std::string& name = where.second;
      const bool ends = name.find("host") != std::string::npos || name.find("gpu") != std::string::npos ||
                        (engines && name.find("nvswitch") != std::string::npos);
      if (ends || vertex.loses || vertex.kinds.size() > 1) { continue; }
      hold(Law::bytes);
      if (vertex.in == vertex.out) { continue; }
      broken(Law::bytes, fmt::format("{} B go into {}, and {} B come out", vertex.in, name, vertex.out));
    }
  }

  void check_size(const Results& base) {
    // NCCL takes protocol and channels by a model of its own, which does not know the links: one size may get one
    // channel, and the next sixteen.
    if (nccl_chooses(scenario_)) { return; }
    const Json* before = nullptr;
    for (const Json& row : base.rows) {
      if (before != nullptr && row.contains("bytes") && before->contains("bytes")) {
        hold(Law::size);
        const auto now = times_of(row);
        const auto then = times_of(*before);
        if (!now.empty() && !then.empty() && now[0] < then[0] * least_ratio(Law::size, scenario_)) {
          broken(Law::size, fmt::format("{} B take {} ps, {} B {} ps", text_of((*before)["bytes"]), then[0],
                                        text_of(row["bytes"]), now[0]));
        }
      }
      before = &row;
    }
  }

  void check_same(Law law, const Results& base, const Results& other) {
    hold(law);
    if (other.code != base.code) {
      return broken(law, fmt::format("status {}: {}", other.code, other.text.substr(0, 300)));
    }
    if (other.rows == base.rows) { return; }
    const Json changes = Json::diff(base.rows, other.rows);
    broken(law, "changed " + text_of(changes).substr(0, 300));
  }

  void check_not_slower(Law law, const Results& base, const Results& better) {
    // Without loss packets may come to wait in a circle at one rate and not at another: it is said, and there is no
    // time.
    if (better.code == 1 && better.text.find("wait for each other in a circle") != std::string::npos) { return; }
    hold(law);
    if (better.code != 0) { return broken(law, fmt::format("status {}: {}", better.code, better.text.substr(0, 300))); }
    for (std::size_t i = 0; i < base.rows.size(); ++i) {
      const auto slow = times_of(base.rows[i]);
      const auto fast = times_of(better.rows[i]);
      for (std::size_t t = 0; t < std::min<std::size_t>(1, slow.size()); ++t) {
        if (fast[t] * least_ratio(law, scenario_) <= slow[t] + 1) { continue; }
        broken(law, fmt::format("row {}: {} ps, better {} ps ({})", i, slow[t], fast[t], fast[t] / slow[t]));
      }
    }
  }

  void check_half(const Results& base, const Results& better) {
    if (!scales(scenario_)) { return; }
    hold(Law::scale);
    if (better.code != 0) { return broken(Law::scale, better.text.substr(0, 300)); }
    for (std::size_t i = 0; i < base.rows.size(); ++i) {
      const auto slow = times_of(base.rows[i]);
      const auto fast = times_of(better.rows[i]);
      for (std::size_t t = 0; t < slow.size(); ++t) {
        if (std::abs(2 * fast[t] - slow[t]) <= rounding(scenario_, slow[t])) { continue; }
        broken(Law::scale, fmt::format("row {}: {} ps, and {} ps at twice the speed", i, slow[t], fast[t]));
      }
    }
  }

  const Json& scenario_;
  std::string folder_;
  std::string data_;
  RandomStream& random_;
  Verdict verdict_;
};

}  // namespace

std::string_view name(Law law) {
  switch (law) {
    case Law::bound: return "bound";
    case Law::folding: return "folding";
    case Law::spelling: return "spelling";
    case Law::size: return "size";
    case Law::rate: return "rate";
    case Law::latency: return "latency";
    case Law::scale: return "scale";
    case Law::bytes: return "bytes";
    case Law::utilisation: return "utilisation";
    case Law::shares: return "shares";
    case Law::company: return "company";
    case Law::interval: return "interval";
    case Law::naming: return "naming";
  }
  return "";
}

Verdict judge(const Json& scenario, const std::string& folder, const std::string& data, RandomStream& random) {
  return Court(scenario, folder, data, random).judge();
}

}  // namespace athanor::fuzz
