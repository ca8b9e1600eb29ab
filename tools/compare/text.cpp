#include "tools/compare/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/format.hpp"
#include "sim/printable.hpp"
#include "sim/words.hpp"
#include "tools/cli/columns.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

std::string size_text(double bytes) { return to_string(Bytes{static_cast<std::int64_t>(std::llround(bytes))}); }

/// "#   A: ...": alternatives have letters, since names are long.
std::string letter(std::size_t alternative) {
  return alternative < 26 ? std::string(1, static_cast<char>('A' + alternative)) : fmt::format("#{}", alternative + 1);
}

std::string legend(const Comparison& comparison) {
  std::string text = fmt::format("# {} by {}; ratios to {}{}\n", printable(comparison.figure), printable(comparison.by),
                                 letter(comparison.base), comparison.more_is_better ? "; more is better" : "");
  for (std::size_t i = 0; i < comparison.alternatives.size(); ++i) {
    text += fmt::format("#   {} = {}\n", letter(i), printable(comparison.alternatives[i]));
  }
  return text;
}

std::string letters(const std::vector<std::size_t>& alternatives) {
  std::string text;
  for (const std::size_t each : alternatives) { text += (text.empty() ? "" : " ") + letter(each); }
  return text;
}

/// Whole figures in full: 11050400, not 1.10504e+07.
std::string cost_figure(double cost) {
  const bool whole = cost == std::floor(cost) && std::abs(cost) < 1e15;
  return whole ? fmt::format("{:.0f}", cost) : fmt::format("{:.6g}", cost);
}

/// What an alternative costs, from the least to the most where conditions (more nodes, say) change it.
std::string cost_range(const Comparison& comparison, std::size_t alternative) {
  std::optional<double> least;
  std::optional<double> most;
  for (const ComparisonLine& line : comparison.lines) {
    const auto& entry = line.entries[alternative];
    if (!entry || !entry->against) { continue; }
    least = std::min(least.value_or(*entry->against), *entry->against);
    most = std::max(most.value_or(*entry->against), *entry->against);
  }
  if (!least) { return "not known"; }
  return cost_figure(*least) + (*most > *least ? fmt::format(" to {}", cost_figure(*most)) : "");
}

std::string costs_text(const Comparison& comparison) {
  if (comparison.against.empty()) { return ""; }
  std::string text;
  for (std::size_t i = 0; i < comparison.alternatives.size(); ++i) {
    text += fmt::format("# {}: {} {}\n", letter(i), printable(comparison.against), cost_range(comparison, i));
  }
  const bool known = std::any_of(comparison.lines.begin(), comparison.lines.end(), [](const ComparisonLine& line) {
    return std::any_of(line.entries.begin(), line.entries.end(),
                       [](const auto& entry) { return entry && entry->against; });
  });
  if (!known) {
    return text +
           "# a part has no figure, and so the sum has none: athanor describe names it; \"prices\" of a scenario "
           "give it (0: it does not count)\n";
  }
  return text + "# front: what no other beats in one of both without losing in the other\n";
}

/// Who wins, and how sure that is; no winner where intervals leave it open.
std::string best_text(const ComparisonLine& line) {
  if (line.winners.empty()) { return line.mixes_software() ? "unlike" : "equal"; }
  const std::string best = letters(line.winners);
  if (!line.certainty) { return best; }
  const double percent = std::min(99.0, std::floor(*line.certainty * 100));  // nothing is certain by a model
  return *line.certainty < kCertain ? fmt::format("open ({} {:.0f} %)", best, percent)
                                    : fmt::format("{} {:.0f} %", best, percent);
}

std::string table(const Comparison& comparison) {
  Columns columns(comparison.conditions);
  for (const ComparisonLine& line : comparison.lines) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < line.conditions.size(); ++i) {
      texts.push_back(comparison.conditions[i] == "bytes" && line.size > 0 ? size_text(line.size) : line.conditions[i]);
    }
    for (std::size_t i = 0; i < line.entries.size(); ++i) {
      columns.put(texts, letter(i), line.entries[i] ? fmt::format("{:.6g}", line.entries[i]->value) : "-");
    }
    const auto& base = line.entries[comparison.base];
    for (std::size_t i = 0; i < line.entries.size(); ++i) {
      if (i == comparison.base) { continue; }
      const bool both = base && line.entries[i] && base->value > 0;
      columns.put(texts, fmt::format("{}/{}", letter(i), letter(comparison.base)),
                  both ? fmt::format("{:.3f}", line.entries[i]->value / base->value) : "-");
    }
    columns.put(texts, "best", best_text(line));
    if (!comparison.against.empty()) { columns.put(texts, "front", letters(comparison.front(line))); }
    columns.add(std::move(texts));
  }
  return columns.text();
}

std::string software_text(const Comparison& comparison) {
  const std::vector<std::size_t> without = comparison.without_software();
  if (without.empty()) { return ""; }
  return fmt::format(
      "# {}: no software is counted, of others it is: {} can lose to them, but not win; to compare the "
      "hardware alone, \"profile\": \"ideal\" for all\n",
      letters(without), without.size() == 1 ? "it" : "they");
}

std::string summary(const Comparison& comparison) {
  const std::vector<std::size_t> wins = comparison.wins();
  std::string text;
  for (std::size_t i = 0; i < comparison.alternatives.size(); ++i) {
    text += fmt::format("# {}: best at {} of {}", letter(i), wins[i], comparison.lines.size());
    const double ratio = comparison.mean_ratio(i);
    if (i != comparison.base && ratio > 0) {
      text += fmt::format("; {:.3f} of {} on average (geometric mean)", ratio, letter(comparison.base));
    }
    if (comparison.extrapolated[i] > 0) {
      text += fmt::format("; {} results extrapolated", comparison.extrapolated[i]);
    }
    text += "\n";
  }
  text += software_text(comparison) + costs_text(comparison);
  for (const Crossover& each : comparison.crossovers()) {
    text +=
        fmt::format("# {} overtakes {} at about {} (between {} and {}){}\n", letter(each.after), letter(each.before),
                    about(each.at), size_text(each.from), size_text(each.to),
                    each.conditions.empty() ? "" : "; " + printable(fmt::format("{}", joined(each.conditions, ", "))));
  }
  if (comparison.unmatched > 0) {
    text += fmt::format("# {} conditions left out that one alternative alone has\n", comparison.unmatched);
  }
  return text;
}

Json interval_json(const ComparisonEntry& entry) {
  return entry.interval ? Json(std::vector{entry.interval->first, entry.interval->second}) : Json();
}

Json conditions_json(const std::vector<std::string>& names, const std::vector<std::string>& values) {
  Json json = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) { json[names[i]] = values[i]; }
  return json;
}

Json names_of(const Comparison& comparison, const std::vector<std::size_t>& alternatives) {
  Json names = Json::list();
  for (const std::size_t each : alternatives) { names.push_back(comparison.alternatives[each]); }
  return names;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  return legend(comparison) + table(comparison) + summary(comparison);
}

Json comparison_json(const Comparison& comparison) {
  Json lines = Json::list();
  for (const ComparisonLine& line : comparison.lines) {
    Json json = conditions_json(comparison.conditions, line.conditions);
    if (line.size > 0) { json["bytes"] = static_cast<std::int64_t>(line.size); }
    const auto& base = line.entries[comparison.base];
    for (const char* key : {"values", "intervals", "ratios", "algorithms"}) { json[key] = Json::list(); }
    for (const auto& entry : line.entries) {
      json["values"].push_back(entry ? Json(entry->value) : Json());
      json["intervals"].push_back(entry ? interval_json(*entry) : Json());
      json["ratios"].push_back(entry && base && base->value > 0 ? Json(entry->value / base->value) : Json());
      json["algorithms"].push_back(entry ? Json(entry->algorithm) : Json());
    }
    if (!comparison.against.empty()) {
      json["against"] = Json::list();
      for (const auto& entry : line.entries) {
        json["against"].push_back(entry && entry->against ? Json(*entry->against) : Json());
      }
      json["front"] = names_of(comparison, comparison.front(line));
    }
    json["winners"] = names_of(comparison, line.winners);
    json["mixes_software"] = line.mixes_software();
    json["certainty"] = line.certainty ? Json(*line.certainty) : Json();
    lines.push_back(std::move(json));
  }
  std::vector<double> ratios;
  for (std::size_t i = 0; i < comparison.alternatives.size(); ++i) { ratios.push_back(comparison.mean_ratio(i)); }
  std::vector<std::string> others = comparison.conditions;
  std::erase(others, "bytes");
  Json crossovers = Json::list();
  for (const Crossover& each : comparison.crossovers()) {
    crossovers.push_back(conditions_json(others, each.conditions));
    crossovers.back().update(Json{{"before", comparison.alternatives[each.before]},
                                  {"after", comparison.alternatives[each.after]},
                                  {"from_bytes", each.from},
                                  {"to_bytes", each.to},
                                  {"at_bytes", each.at}});
  }
  return {{"by", comparison.by},
          {"figure", comparison.figure},
          {"against", comparison.against},
          {"more_is_better", comparison.more_is_better},
          {"alternatives", comparison.alternatives},
          {"base", comparison.alternatives[comparison.base]},
          {"lines", lines},
          {"mean_ratios", ratios},
          {"wins", comparison.wins()},
          {"certain_from", kCertain},
          {"without_software", names_of(comparison, comparison.without_software())},
          {"extrapolated", comparison.extrapolated},
          {"crossovers", crossovers}};
}

}  // namespace athanor
