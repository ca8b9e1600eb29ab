#include "tools/calibrate/anchors/row_checks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/core.h>

#include "models/execution/run.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/software/profile.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/anchors/unit_slip.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

Time time_of(double time_us) { return Time{std::llround(time_us * 1e6)}; }
std::string time_text(double time_us) { return to_string(Time{std::llround(time_us * 1e3) * 1000}); }

/// Runs of letters and digits, in small letters.
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      all.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!all.back().empty()) {
      all.emplace_back();
    }
  }
  return all;
}

/// "h100" of "H100-SXM-80GB": the first word with a digit.
std::string model_word(const std::string& preset) {
  for (const std::string& word : words(preset)) {
    if (std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) { return word; }
  }
  return "";
}

/// Whether a text names a model, which it may have in several words: "GeForce RTX 2080 Ti".
bool names(const std::string& text, const std::string& model) {
  const std::vector<std::string> all = words(text);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string together;
    for (std::size_t j = i; j < all.size(); ++j) {
      together += all[j];
      if (together == model) { return true; }
    }
  }
  return false;
}

template <class T>
std::optional<T> fact(const Measurement& measurement, std::string_view key) {
  for (const auto& [known, value] : measurement.hardware_facts) {
    const T* held = std::get_if<T>(&value);
    if (known == key && held != nullptr) { return *held; }
  }
  return std::nullopt;
}

void check_gpu(const GivenRows& rows, const Cluster& cluster, Problems& problems) {
  const auto measured = fact<std::string>(rows.measurement, "gpu");
  const std::string preset = cluster.identity ? cluster.identity->gpu : "";
  const std::string model = model_word(preset);
  if (!measured || *measured == "unknown" || model.empty() || names(*measured, model)) { return; }
  problems.add({"another-machine",
                fmt::format("these times are of '{}', and the scenario's GPUs are '{}'", *measured, preset),
                {rows.file, 0, 0, ""},
                "name the table of such GPUs, or change the scenario's node"});
}

void check_nodes(const GivenRows& rows, const Tables::MeasuredCase& measured, Problems& problems) {
  constexpr std::uint32_t kMostOnBoard = 16;  // a rack of NVLinks is one node here, and many to those who measure it
  const auto nodes = fact<std::int64_t>(rows.measurement, "nodes");
  const auto per_node = fact<std::int64_t>(rows.measurement, "gpus_per_node");
  const Cluster& cluster = *measured.platform.cluster;
  if (!nodes || !per_node || *nodes * *per_node != measured.setup.ranks || cluster.endpoints_per_node > kMostOnBoard) {
    return;
  }
  const std::uint32_t simulated = nodes_of(cluster, measured.setup.ranks);
  if (simulated == *nodes) { return; }
  problems.add({"another-machine",
                fmt::format("these times are of {} ranks on {} nodes, and the scenario has them on {}",
                            measured.setup.ranks, *nodes, simulated),
                {rows.file, 0, 0, ""},
                "name the table of such nodes, or change the scenario's cluster"});
}

/// NICs of a node that messages to others may take; 0: there is no choice.
std::uint32_t nics_to_choose(const Tables::MeasuredCase& measured) {
  const Cluster& cluster = *measured.platform.cluster;
  const bool several_nodes = nodes_of(cluster, measured.setup.ranks) > 1;
  return several_nodes && cluster.nics_per_node > 1 ? cluster.nics_per_node : 0;
}

constexpr std::array<std::string_view, 2> kChoosing{"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"};

/// A variable that chooses NICs, which nothing here follows; "": none.
std::string chooser(const GivenRows& rows, const Tables::MeasuredCase& measured) {
  for (const std::string_view variable : kChoosing) {
    const auto& given = measured.setup.nccl->communicator().environment.given;
    const bool in_text = rows.text.find(fmt::format("{}=", variable)) != std::string::npos;
    if (in_text || given.contains(std::string(variable))) { return std::string(variable); }
  }
  return "";
}

void check_nics(const GivenRows& rows, const Tables::MeasuredCase& measured, const RowClaims& claims,
                Problems& problems) {
  const std::uint32_t nics = nics_to_choose(measured);
  if (claims.nics && *claims.nics != std::max(1U, measured.platform.cluster->nics_per_node)) {
    problems.add({"which-nics",
                  fmt::format("--nics {}: the scenario's nodes have {} on their network", *claims.nics,
                              measured.platform.cluster->nics_per_node),
                  {claims.scenario, 0, 0, ""},
                  "list those that were used under \"nics\" of the scenario's fabric"});
    return;
  }
  const std::string variable = chooser(rows, measured);
  if (nics == 0 || claims.nics || variable.empty()) { return; }
  problems.add({"which-nics",
                fmt::format("{} chose NICs for these times, and the scenario's nodes have {}: which of them were used "
                            "is not known",
                            variable, nics),
                {rows.file.empty() ? claims.scenario : rows.file, 0, 0, ""},
                fmt::format("list them under \"nics\" of the scenario's fabric, and say how many with --nics; "
                            "--nics {} says that all were used",
                            nics)});
}

Problem slipped(const GivenRows& rows, const TablePoint& point, double expected_us, double slip) {
  return {"units",
          fmt::format("{}: about {} times {} than the {} that are expected", rows.name(point),
                      slip > 1 ? slip : 1 / slip, slip > 1 ? "longer" : "shorter", time_text(expected_us)),
          {rows.file, 0, 0, ""},
          fmt::format("is it perhaps {}?", to_string(time_of(point.time_us / slip)))};
}

Problem too_fast(const GivenRows& rows, const TablePoint& point, const Bound& bound) {
  return {"faster-than-hardware",
          fmt::format("{} is faster than {}, the least that the scenario's hardware allows ({})", rows.name(point),
                      time_text(microseconds(bound.time)), bound.limited_by),
          {rows.file, 0, 0, ""},
          "was it another collective, number of ranks, size or machine, or another way to count the size?"};
}

/// Some of the NICs that would take about so many times as long as all; none where none would.
std::optional<std::uint32_t> some_of(std::uint32_t nics, double ratio) {
  constexpr double kNear = 1.15;
  constexpr double kSlow = 1.7;  // less is a network that is not healthy
  if (ratio < kSlow) { return std::nullopt; }
  std::optional<std::uint32_t> nearest;
  double least = std::log(kNear);
  for (std::uint32_t some = 1; some < nics; ++some) {
    const double off = std::abs(std::log(ratio * some / nics));
    if (off < least) { nearest = some; }
    least = std::min(least, off);
  }
  return nearest;
}

Problem part_of_nics(const GivenRows& rows, const TablePoint& point, const RowClaims& claims, std::uint32_t some,
                     std::uint32_t nics) {
  return {"which-nics",
          fmt::format("{} is about what {} of the {} NICs of a node take: which of them were used is not known",
                      rows.name(point), some, nics),
          {rows.file.empty() ? claims.scenario : rows.file, 0, 0, ""},
          fmt::format("list them under \"nics\" of the scenario's fabric; if all were used, say so: --nics {}", nics)};
}

}  // namespace

void check_machine(const GivenRows& rows, const Tables::MeasuredCase& measured, const RowClaims& claims,
                   Problems& problems) {
  check_gpu(rows, *measured.platform.cluster, problems);
  check_nodes(rows, measured, problems);
  check_nics(rows, measured, claims, problems);
}

void check_times(const GivenRows& rows, const Tables::MeasuredCase& measured, const std::vector<double>& expected_us,
                 const RowClaims& claims, Problems& problems) {
  constexpr double kRounding = 0.98;
  constexpr Bytes kLarge{64 << 20};  // from here on links count alone
  const std::uint32_t nics = nics_to_choose(measured);
  for (std::size_t i = 0; i < rows.points.size(); ++i) {
    const TablePoint& point = rows.points[i];
    const double ratio = point.time_us / expected_us[i];
    if (const double slip = unit_slip(ratio); slip != 1) {
      problems.add(slipped(rows, point, expected_us[i], slip));
      continue;
    }
    const Bound bound = run_collective(measured.setup.request(measured.platform, point.size, {})).bound;
    if (point.time_us < kRounding * microseconds(bound.time)) {
      problems.add(too_fast(rows, point, bound));
    } else if (const auto some = some_of(nics, ratio); some && !claims.nics && point.size >= kLarge) {
      problems.add(part_of_nics(rows, point, claims, *some, nics));
      return;
    }
  }
}

}  // namespace athanor
