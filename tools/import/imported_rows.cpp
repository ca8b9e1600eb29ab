#include "tools/import/imported_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/core.h>

#include "models/execution/run.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && is_digit(text[at + count])) { ++count; }
  return count;
}

/// Length of "[1,0]<stdout>:" at the beginning, else 0.
std::size_t mpirun_prefix(std::string_view line) {
  if (!line.starts_with('[')) { return 0; }
  const std::size_t job = digits_at(line, 1);
  if (job == 0 || line.substr(1 + job, 1) != ",") { return 0; }
  const std::size_t process = digits_at(line, 2 + job);
  const std::size_t close = 2 + job + process;
  for (const std::string_view stream : {"]<stdout>:", "]<stderr>:", "]<stddiag>:"}) {
    if (process > 0 && line.substr(close).starts_with(stream)) { return close + stream.size(); }
  }
  return 0;
}

/// Length of "12: " at the beginning, as srun --label and others write it, else 0.
std::size_t label_prefix(std::string_view line) {
  const std::size_t digits = digits_at(line, 0);
  return digits > 0 && line.substr(digits).starts_with(": ") ? digits + 1 : 0;
}

/// Length of "2026-11-21T15:04:05.123Z " or the like, with or without brackets, at the beginning, else 0.
std::size_t time_stamp(std::string_view line) {
  const std::size_t begin = line.starts_with('[') ? 1 : 0;
  if (digits_at(line, begin) != 4 || line.substr(begin + 4, 1) != "-" || digits_at(line, begin + 5) != 2 ||
      line.substr(begin + 7, 1) != "-" || digits_at(line, begin + 8) != 2) {
    return 0;
  }
  std::size_t at = begin + 10;
  if (line.substr(at, 1) != "T" && line.substr(at, 1) != " ") { return 0; }
  if (digits_at(line, at + 1) != 2 || line.substr(at + 3, 1) != ":") { return 0; }
  at = line.find_first_of(begin == 1 ? "]" : " \t", at + 1);
  return at == std::string_view::npos ? line.size() : at + begin;
}

/// Length of "\x1b[1;31m" at the beginning, else 0.
std::size_t colour(std::string_view line) {
  if (!line.starts_with("\x1b[")) { return 0; }
  const std::size_t end = line.find('m');
  return end == std::string_view::npos ? 0 : end + 1;
}

/// Does the bus bandwidth, where it has digits enough, not follow from size, time, collective and ranks?
bool contradicts_itself(const Measurement::Row& row) {
  if (!row.time_us || !row.busbw_gbps || *row.busbw_gbps < 1) { return false; }
  const double follows =
      static_cast<double>(row.bytes.count()) / *row.time_us / 1000 * bus_factor(row.collective, row.ranks);
  return std::abs(follows - *row.busbw_gbps) > 0.02 * *row.busbw_gbps;
}

constexpr int kLongestDays = 100;
constexpr double kLongest = 1e6 * 86'400 * kLongestDays;  ///< us
constexpr double kShortest = 0.0005;                      ///< us; less is none

}  // namespace

std::string_view without_prefix(std::string_view line) {
  for (int i = 0; i < 4; ++i) {
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = line.substr(blanks);
    std::size_t length = mpirun_prefix(text);
    if (length == 0) { length = colour(text); }
    if (length == 0) { length = time_stamp(text); }
    if (length == 0) { length = label_prefix(text); }
    if (length == 0) { break; }
    line.remove_prefix(blanks + length);
  }
  return line;
}

bool ImportedRows::takes(int line, CollectiveKind kind) {
  if (kind != CollectiveKind::send_receive) { return true; }
  problem(line, "ring-shift",
          "in sendrecv_perf every rank sends to the next one at the same time, and send_receive is one message",
          R"(simulate it as "traffic" with "pattern": "shift"; its times are no measurement of a collective)");
  return false;
}

std::optional<DataType> imported_type(std::string_view word) {
  for (const DataType type : data_types()) {
    if (word == nccl_name(type) || word == name(type)) { return type; }
  }
  return std::nullopt;
}

bool ImportedRows::is_time(int line, double time_us) {
  if (time_us >= 0 && time_us <= kLongest) { return true; }
  const std::string what = time_us > kLongest ? fmt::format("more than {} days", kLongestDays) : "below zero";
  problem(line, time_us > kLongest ? "long-time" : "negative-time", fmt::format("a time of {} us is {}", time_us, what),
          "remove the row, and see what went wrong when it was measured");
  return false;
}

void ImportedRows::add(int line, Measurement::Row row) {
  for (const std::optional<double>& time : {row.time_us, row.min_us}) {
    if (time && !is_time(line, *time)) { return; }
  }
  // What a measurement keeps are nanoseconds.
  if (row.time_us && *row.time_us < kShortest) { row.time_us.reset(); }
  if (contradicts_itself(row)) {
    problem(line, "contradiction",
            fmt::format("{} B in {} us are not {} GB/s of bus bandwidth for {} over {} ranks", row.bytes.count(),
                        *row.time_us, *row.busbw_gbps, name(row.collective), row.ranks),
            "state what was measured with --collective and --ranks");
    return;
  }
  if (!seen_.emplace(row.collective, row.ranks, row.in_place, row.type, row.reduction, row.bytes.count()).second) {
    problem(line, "repeated-size",
            fmt::format("{} over {} ranks came with {} before in this table", name(row.collective), row.ranks,
                        to_string(row.bytes)),
            "keep one of the rows; several cycles of one test go into files of their own");
    return;
  }
  if (row.wrong > 0 && measurement_.healthy) {
    measurement_.healthy = false;
    measurement_.notes += fmt::format("{}wrong results were counted, first at {} (line {})",
                                      measurement_.notes.empty() ? "" : "; ", to_string(row.bytes), line);
  }
  measurement_.rows.push_back(std::move(row));
}

void ImportedRows::problem(int line, std::string code, std::string message, std::string hint) {
  if (told_++ < kMostProblems) {
    problems_.add({std::move(code), std::move(message), {file_, line, 1, ""}, std::move(hint)});
  } else if (told_ == kMostProblems + 1) {
    problems_.add({"more", "and more problems after these", {file_, line, 1, ""}, ""});
  }
}

}  // namespace athanor
