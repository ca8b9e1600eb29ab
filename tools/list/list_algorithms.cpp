#include <memory>
#include <vector>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/list/listings.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

constexpr Bytes kElement{4};
constexpr std::uint32_t kRanks = 8;
constexpr Bytes kSize{1 << 20};

/// The collectives that algorithms are listed for.
struct Question {
  std::optional<CollectiveKind> only;
  std::uint32_t ranks = kRanks;
  Bytes size = kSize;

  /// An all-to-all-v has blocks of equal size.
  Collective collective(CollectiveKind kind) const {
    Collective result{kind, ranks, Elements{size / kElement}};
    if (kind == CollectiveKind::barrier) { result.count = Elements::zero(); }
    if (kind == CollectiveKind::all_to_all_v) {
      const Elements each = result.count / ranks;
      result.sizes = std::make_shared<AllToAllVSizes>(ranks, std::vector<Elements>(std::size_t{ranks} * ranks, each));
      result.count = result.sizes->largest();
    }
    return result;
  }
};

Question question(const ListOptions& options) {
  constexpr std::uint32_t kMost = 1 << 16;
  Question question;
  if (options.collective) { question.only = named_collective("list", *options.collective); }
  question.ranks = options.ranks.value_or(kRanks);
  question.size = options.size.value_or(kSize);
  if (question.size < kElement || question.size % kElement != Bytes::zero()) {
    throw UsageError(
        fmt::format("list: --size {} is no whole number of elements of 4 bytes", to_string(question.size)));
  }
  if (question.ranks > kMost) {
    throw UsageError(fmt::format("list: --ranks {} is more than {}", question.ranks, kMost));
  }
  return question;
}

Json algorithm_json(const Algorithm& algorithm, const Question& question) {
  Json json{{"collective", name(algorithm.kind)},
            {"name", algorithm.name},
            {"engine", name(algorithm.engine)},
            {"summary", algorithm.summary},
            {"explanation", algorithm.explanation},
            {"fits", algorithm.ranks},
            {"made_for", algorithm.fabrics},
            {"pipelines", algorithm.pipelines},
            {"formula", algorithm.formula},
            {"source", algorithm.source},
            {"ranks", question.ranks},
            {"bytes", question.size.count()}};
  constexpr std::uint32_t kMostInTable = 1024;
  if (algorithm.kind == CollectiveKind::all_to_all_v && question.ranks > kMostInTable) {
    json["refused"] = fmt::format("its table of sizes is listed for up to {} ranks", kMostInTable);
    return json;
  }
  const Collective collective = question.collective(algorithm.kind);
  if (const auto reason = algorithm.refuses(collective, {})) {
    json["refused"] = *reason;
    return json;
  }
  const Cost cost = algorithm.cost(collective);
  json["steps"] = cost.steps;
  json["sent_bytes"] = (kElement * cost.sent.count()).count();
  json["added_bytes"] = (kElement * cost.reduced.count()).count();
  return json;
}

/// At most four digits: 917.5 KiB.
std::string short_size(std::int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < std::size(units); ++unit) { value /= 1024; }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.4g} {}", value, units[unit]);
}

std::int64_t count(const Json& algorithm, std::string_view key) {
  return static_cast<std::int64_t>(algorithm[key].number());
}

std::string row(const Json& algorithm, bool verbose) {
  constexpr std::size_t kIndent = 61;
  const std::string& name = algorithm["name"].string();
  std::string text = fmt::format("  {:<27}", name);
  if (algorithm.contains("refused")) {
    text += "not shown: " + wrapped(algorithm["refused"].string(), 40) + "\n";
  } else {
    text += fmt::format("{:>6}  {:>10}  {:>10}  {}\n", count(algorithm, "steps"),
                        short_size(count(algorithm, "sent_bytes")), short_size(count(algorithm, "added_bytes")),
                        wrapped(algorithm["summary"].string(), kIndent));
  }
  if (!verbose) { return text; }
  for (const auto& [title, key] :
       {std::pair{"how", "explanation"}, std::pair{"time", "formula"}, std::pair{"ranks", "fits"},
        std::pair{"for", "made_for"}, std::pair{"source", "source"}}) {
    text += fmt::format("    {:<8}{}\n", title, wrapped(algorithm[key].string(), 12));
  }
  return text + "\n";
}

std::string table(const std::vector<Json>& algorithms, const Question& question, bool verbose) {
  std::string text =
      fmt::format("# {} ranks, {}: messages one after the other, bytes that the busiest rank sends and adds up\n",
                  question.ranks, to_string(question.size));
  if (!verbose) { text += "# --verbose: how each goes, its time, which ranks fit, and its source\n"; }
  std::string collective;
  for (const Json& algorithm : algorithms) {
    if (algorithm["collective"].string() != collective) {
      collective = algorithm["collective"].string();
      text += fmt::format("{:<29}{:>6}  {:>10}  {:>10}\n", collective, "steps", "sent", "added");
    }
    text += row(algorithm, verbose);
  }
  return text;
}

}  // namespace

Listing list_algorithms(const ListOptions& options) {
  const Question asked = question(options);
  std::vector<Json> rows;
  for (const Algorithm& algorithm : catalog()) {
    if (!asked.only || *asked.only == algorithm.kind) { rows.push_back(algorithm_json(algorithm, asked)); }
  }
  return {rows, table(rows, asked, options.common.verbose)};
}

}  // namespace athanor
