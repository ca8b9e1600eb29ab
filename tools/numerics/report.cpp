#include "tools/numerics/report.hpp"

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

/// A, B, ..., Z, AA, AB, ...
std::string letters(std::size_t number) {
  const std::string last(1, static_cast<char>('A' + number % 26));
  return number < 26 ? last : letters(number / 26 - 1) + last;
}

const char* equality(std::optional<bool> equal) {
  if (!equal) { return "-"; }
  return *equal ? "equal" : "differ";
}

Bytes size_of(const NumericsRequest& request) { return size_of(request.type) * request.collective.count.count(); }

std::string line(const char* label, const std::string& value) { return fmt::format("# {:<12} {}\n", label, value); }

}  // namespace

std::string numerics_header(const NumericsRequest& request) {
  const Collective& collective = request.collective;
  std::string lines = line("collective", fmt::format("{} of {} over {} ranks: {} elements of {}", name(collective.kind),
                                                     to_string(size_of(request)), collective.ranks,
                                                     collective.count.count(), name(request.type)));
  lines += line("numbers", fmt::format("{}, seed {}", name(request.distribution), request.seed));
  lines += line("errors", "against the exact sum, over all elements of all ranks' results");
  lines += line("runs", fmt::format("{}, each with orders of arrival of its own", request.repetitions));
  return lines + "#\n" +
         fmt::format("# {:<28} {:<26} {:^17} {:^17} {:^17} {:>7} {:<6} {:<6} {}\n", "algorithm", "added by", "absolute",
                     "relative", "ulp", "rounded", "ranks", "runs", "bits") +
         fmt::format("# {:<28} {:<26} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7}\n", "", "", "max", "mean", "max",
                     "mean", "max", "mean", "(%)");
}

std::string numerics_line(const NumericsRow& row) {
  const ErrorStatistics& errors = row.errors;
  const std::string bound =
      row.bound ? fmt::format(" bound {:.1e}, {:.0f} % used", row.bound->greatest, 100 * row.bound->used) : "";
  return fmt::format("  {:<28} {:<26} {:>8.1e} {:>8.1e} {:>8.1e} {:>8.1e} {} {} {:>7.2f} {:<6} {:<6} {}{}\n",
                     algorithm_of(row.subject), arithmetic_of(row.subject), errors.greatest_absolute,
                     errors.mean_absolute, errors.greatest_relative, errors.mean_relative,
                     fitted(errors.greatest_ulp, 8), fitted(errors.mean_ulp, 8), 100 * errors.correctly_rounded,
                     equality(row.ranks_equal), equality(row.runs_equal), letters(row.bits), bound);
}

std::string numerics_footer() {
  return "# rounded: elements that are the exact sum, rounded once. Rows of one letter are equal to the bit.\n";
}

JsonValue numerics_json(const NumericsRequest& request, const NumericsRow& row) {
  const NumericsSubject& subject = row.subject;
  const bool engines = subject.algorithm->engine != Engine::none;
  const ErrorStatistics& errors = row.errors;
  JsonValue json = {{"collective", name(request.collective.kind)}, {"algorithm", algorithm_of(subject)},
                    {"engine", name(subject.algorithm->engine)},   {"ranks", request.collective.ranks},
                    {"bytes", size_of(request).count()},           {"type", name(request.type)},
                    {"distribution", name(request.distribution)},  {"seed", request.seed}};
  json["accumulator"] = !engines ? "ranks" : subject.block ? "int32" : name(subject.engines.accumulator);
  json["order"] = name(engines ? subject.engines.order : SummationOrder::ports);
  json["block"] = subject.quantized ? JsonValue(subject.quantized->block)
                  : subject.block   ? JsonValue(subject.block->count())
                                    : JsonValue();
  json["format"] = subject.quantized ? JsonValue(name(subject.quantized->number)) : JsonValue();
  json["max_absolute_error"] = errors.greatest_absolute;
  json["mean_absolute_error"] = errors.mean_absolute;
  json["max_relative_error"] = errors.greatest_relative;
  json["mean_relative_error"] = errors.mean_relative;
  json["max_error_ulp"] = errors.greatest_ulp;
  json["mean_error_ulp"] = errors.mean_ulp;
  json["correctly_rounded"] = errors.correctly_rounded;
  json["error_bound"] = row.bound ? JsonValue(row.bound->greatest) : JsonValue();
  json["share_of_bound"] = row.bound ? JsonValue(row.bound->used) : JsonValue();
  json["ranks_equal"] = row.ranks_equal ? JsonValue(*row.ranks_equal) : JsonValue();
  json["runs_equal"] = row.runs_equal;
  json["repetitions"] = request.repetitions;
  json["bits"] = letters(row.bits);
  return json;
}

}  // namespace athanor
