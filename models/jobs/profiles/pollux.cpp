#include "models/jobs/profiles/pollux.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "models/jobs/logs/table.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

[[noreturn]] void refuse(const LogTable& table, std::size_t column, std::string_view wanted) {
  throw ScenarioError({"no-profile",
                       fmt::format("{} '{}' is no {}", table.columns()[column], table.field(column), wanted),
                       table.place(), "change the value, or leave the line out"});
}

/// A number from 0 on, or above it.
double positive(const LogTable& table, std::size_t column, bool or_zero = false) {
  const auto value = number_of(table.field(column));
  if (value && *value < 1e300 && (*value > 0 || (or_zero && *value == 0))) { return *value; }
  refuse(table, column, or_zero ? "number from 0 on" : "number above 0");
}

std::uint32_t count(const LogTable& table, std::size_t column) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto value = whole_number_of(table.field(column));
  if (value && *value >= 1 && *value <= kMost) { return static_cast<std::uint32_t>(*value); }
  refuse(table, column, "whole number from 1 to 1000000");
}

/// "112": a digit for each node.
GpuCounts placement_of(const LogTable& table, std::size_t column) {
  GpuCounts counts;
  for (const char digit : table.field(column)) {
    if (digit < '1' || digit > '9') { refuse(table, column, "row of digits from 1 to 9, one for each node"); }
    counts.push_back(static_cast<std::uint32_t>(digit - '0'));
  }
  if (counts.empty()) { refuse(table, column, "row of digits from 1 to 9, one for each node"); }
  return counts;
}

/// The columns that both tables of step times have.
class StepColumns {
 public:
  explicit StepColumns(const LogTable& table)
      : batch_(table.column("local_bsz")), step_(table.column("step_time")), sync_(table.column("sync_time")) {}

  std::uint32_t batch(const LogTable& table) const { return count(table, batch_); }
  StepTime time(const LogTable& table) const {
    const StepTime time{positive(table, step_), positive(table, sync_, true)};
    if (time.sync > time.step) { refuse(table, sync_, "part of the step_time"); }
    return time;
  }

 private:
  std::size_t batch_;
  std::size_t step_;
  std::size_t sync_;
};

void read_placements(const std::string& path, ApplicationProfile& profile) {
  LogTable table(path, {});
  const std::size_t placement = table.column("placement");
  const StepColumns columns(table);
  bool any = false;
  while (table.next()) {
    const std::uint32_t batch = columns.batch(table);
    profile.steps.add_placement(placement_of(table, placement), batch, columns.time(table));
    profile.least_local_batch = any ? std::min(profile.least_local_batch, batch) : batch;
    profile.most_local_batch = any ? std::max(profile.most_local_batch, batch) : batch;
    any = true;
  }
  if (!any) { throw ScenarioError({"no-profile", "there is no step time", {path, 1, 0, ""}, "add a line"}); }
}

void read_scalability(const std::string& path, ApplicationProfile& profile) {
  LogTable table(path, {});
  const std::size_t nodes = table.column("num_nodes");
  const std::size_t gpus = table.column("num_replicas");
  const StepColumns columns(table);
  while (table.next()) {
    profile.steps.add_size(count(table, nodes), count(table, gpus), columns.batch(table), columns.time(table));
  }
}

std::vector<EpochEnd> read_validation(const std::string& path) {
  LogTable table(path, {});
  const std::size_t progress = table.column("progress");
  const std::size_t square = table.column("grad_sqr");
  const std::size_t variance = table.column("grad_var");
  std::vector<EpochEnd> epochs;
  while (table.next()) {
    epochs.push_back({positive(table, progress), {positive(table, square, true), positive(table, variance)}});
    if (epochs.size() > 1 && epochs.back().progress <= epochs[epochs.size() - 2].progress) {
      refuse(table, progress, "more than in the epoch before");
    }
  }
  return epochs;
}

/// Of names such as "validation-128.csv" in a folder, by their numbers.
std::vector<std::uint32_t> batches_in(const std::string& path) {
  constexpr std::string_view kHead = "validation-";
  constexpr std::string_view kTail = ".csv";
  std::vector<std::uint32_t> batches;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kHead) || !name.ends_with(kTail)) { continue; }
    const auto batch =
        whole_number_of(std::string_view(name).substr(kHead.size(), name.size() - kHead.size() - kTail.size()));
    if (batch && *batch >= 1 && *batch <= UINT32_MAX) { batches.push_back(static_cast<std::uint32_t>(*batch)); }
  }
  std::sort(batches.begin(), batches.end());
  return batches;
}

}  // namespace

ApplicationProfile read_pollux_profile(const std::string& folder, const FileReader& files) {
  const auto path_of = [&](const std::string& file) {
    const std::string name = folder + "/" + file;
    files.note(name);
    return files.path(name);
  };
  ApplicationProfile profile;
  profile.name = std::filesystem::path(folder).filename().string();
  read_placements(path_of("placements.csv"), profile);
  if (std::filesystem::exists(files.path(folder + "/scalability.csv"))) {
    read_scalability(path_of("scalability.csv"), profile);
  }
  for (const std::uint32_t batch : batches_in(files.path(folder))) {
    const std::string path = path_of(fmt::format("validation-{}.csv", batch));
    std::vector<EpochEnd> epochs = read_validation(path);
    const std::size_t expected = profile.convergence.epochs() > 0 ? profile.convergence.epochs() : epochs.size();
    if (epochs.empty() || epochs.size() != expected) {
      throw ScenarioError({"no-profile",
                           fmt::format("it has {} epochs, and those of smaller batches {}", epochs.size(), expected),
                           {path, 1, 0, ""},
                           "write as many lines for each batch, at least one"});
    }
    profile.convergence.add(batch, std::move(epochs));
  }
  if (profile.convergence.epochs() == 0) {
    throw ScenarioError({"no-profile",
                         "there is no validation-BATCH.csv",
                         {files.path(folder), 0, 0, ""},
                         "such a file says how far each epoch comes with that batch"});
  }
  return profile;
}

}  // namespace athanor
