#include "models/serving/request_trace.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "models/jobs/logs/job_log.hpp"
#include "models/jobs/logs/table.hpp"
#include "sim/config/json_value.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kMostTokens = 1'000'000'000;
constexpr double kMostSeconds = 9e6;  ///< some hundred days: simulated time ends at 106

/// What a row says, in the units of its format.
struct TraceRow {
  std::optional<double> seconds;  ///< on a clock of its own
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t> output;
};

/// Where a format has them.
struct TraceColumns {
  std::string_view arrival;
  std::string_view prompt;
  std::string_view output;
};

/// Adds rows, counted from the first.
class TraceBuilder {
 public:
  /// What a row of the present line has in a column, as it is written; "": nothing.
  using Written = std::function<std::string(std::string_view column)>;

  TraceBuilder(const TraceColumns& columns, Written written) : columns_(columns), written_(std::move(written)) {}

  void add(const TraceRow& row, const SourceLocation& place) {
    if (!row.seconds) { refuse_value("no-time", columns_.arrival, "no time at which the request arrives", place); }
    if (!row.prompt || *row.prompt < 1 || *row.prompt > kMostTokens) {
      refuse_value("no-tokens", columns_.prompt, fmt::format("no whole number of 1 to {} tokens", kMostTokens), place);
    }
    if (!row.output || *row.output < 0 || *row.output > kMostTokens) {
      refuse_value("no-tokens", columns_.output, fmt::format("no whole number of 0 to {} tokens", kMostTokens), place);
    }
    if (!first_) { first_ = *row.seconds; }
    const double since = *row.seconds - *first_;
    if (since > kMostSeconds) { refuse("out-of-range", "it arrives over 100 days after the first", place); }
    const Time arrival{std::llround(since * 1e6) * 1'000'000};
    if (arrival < last_) { refuse("wrong-order", "the request arrives before the one above it", place); }
    last_ = arrival;
    requests_.push_back({arrival, static_cast<std::uint32_t>(*row.prompt),
                         static_cast<std::uint32_t>(std::max<std::int64_t>(1, *row.output))});
  }

  ServedRequests take(const std::string& path) {
    if (requests_.empty()) { refuse("no-requests", "the trace has no requests", {path, 0, 0, ""}); }
    return std::move(requests_);
  }

 private:
  [[noreturn]] void refuse_value(const char* code, std::string_view column, const std::string& what,
                                 const SourceLocation& place) const {
    const std::string found = written_(column);
    refuse(code,
           found.empty() ? fmt::format("there is no '{}'", column) : fmt::format("'{}' is {}: {}", column, found, what),
           place);
  }
  [[noreturn]] static void refuse(const char* code, std::string message, const SourceLocation& place) {
    throw ScenarioError({code, std::move(message), place, "a row has an arrival, a prompt and an output"});
  }

  const TraceColumns& columns_;
  Written written_;
  ServedRequests requests_;
  std::optional<double> first_;
  Time last_;
};

std::optional<double> seconds_of_date(std::string_view text) {
  const auto date = date_of(text);
  if (!date) { return {}; }
  return static_cast<double>(date->count()) / 1e6;
}

constexpr TraceColumns kAzure{"TIMESTAMP", "ContextTokens", "GeneratedTokens"};
constexpr TraceColumns kPlain{"arrival", "prompt", "output"};
constexpr TraceColumns kMooncake{"timestamp", "input_length", "output_length"};

ServedRequests read_table(const std::string& path) {
  LogTable table(path, {});
  const bool dated = table.find(kAzure.arrival).has_value();
  const TraceColumns& names = dated ? kAzure : kPlain;
  const std::size_t arrival = table.column(names.arrival);
  const std::size_t prompt = table.column(names.prompt);
  const std::size_t output = table.column(names.output);
  TraceBuilder trace(names, [&](std::string_view column) {
    const std::string_view text = table.field(table.column(column));
    return text.empty() ? "" : fmt::format("'{}'", text);
  });
  while (table.next()) {
    const std::string_view time = table.field(arrival);
    trace.add({dated ? seconds_of_date(time) : number_of(time), whole_number_of(table.field(prompt)),
               whole_number_of(table.field(output))},
              table.place());
  }
  return trace.take(path);
}

std::optional<std::int64_t> whole_at(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value == nullptr ? std::nullopt : value->whole();
}

ServedRequests read_json_lines(const std::string& path) {
  const TableShape shape{.separator = '\n', .quoted = false, .columns = {"line"}};
  LogTable lines(path, shape);
  std::optional<JsonValue> object;
  TraceBuilder trace(kMooncake, [&](std::string_view key) {
    const JsonValue* value = object->find(key);
    return value == nullptr ? "" : text_of(*value);
  });
  while (lines.next()) {
    object = json_value_of(lines.field(0), Comments::refused);
    if (!object) {
      throw ScenarioError({"no-json", "the line is no JSON object", lines.place(),
                           R"(as in {"timestamp": 0, "input_length": 6755, "output_length": 500})"});
    }
    TraceRow row{{}, whole_at(*object, kMooncake.prompt), whole_at(*object, kMooncake.output)};
    const JsonValue* milliseconds = object->find(kMooncake.arrival);
    if (milliseconds != nullptr && milliseconds->is_number()) { row.seconds = milliseconds->number() / 1e3; }
    trace.add(row, lines.place());
  }
  return trace.take(path);
}

/// By the first character of the file: of a JSON object, or of a table's names.
bool has_json_lines(const std::string& path) {
  ByteSource source(path, Bytes{std::int64_t{1} << 36});
  char first = ' ';
  while (source.read(&first, 1) == 1 && (first == ' ' || first == '\n' || first == '\r')) {}
  return first == '{';
}

}  // namespace

ServedRequests read_request_trace(const std::string& path) {
  return has_json_lines(path) ? read_json_lines(path) : read_table(path);
}

}  // namespace athanor
