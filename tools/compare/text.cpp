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

/// "#   A: ...": contestants have letters, since names are long.
std::string letter(std::size_t contestant) {
  return contestant < 26 ? std::string(1, static_cast<char>('A' + contestant)) : fmt::format("#{}", contestant + 1);
}

std::string legend(const Contest& contest) {
  std::string text = fmt::format("# {} by {}; ratios to {}{}\n", printable(contest.figure), printable(contest.by),
                                 letter(contest.base), contest.more_is_better ? "; more is better" : "");
  for (std::size_t i = 0; i < contest.contestants.size(); ++i) {
    text += fmt::format("#   {} = {}\n", letter(i), printable(contest.contestants[i]));
  }
  return text;
}

std::string letters(const std::vector<std::size_t>& contestants) {
  std::string text;
  for (const std::size_t each : contestants) { text += (text.empty() ? "" : " ") + letter(each); }
  return text;
}

/// Whole figures in full: 11050400, not 1.10504e+07.
std::string cost_figure(double cost) {
  const bool whole = cost == std::floor(cost) && std::abs(cost) < 1e15;
  return whole ? fmt::format("{:.0f}", cost) : fmt::format("{:.6g}", cost);
}

/// What a contestant costs, from the least to the most where conditions (more nodes, say) change it.
std::string cost_range(const Contest& contest, std::size_t contestant) {
  std::optional<double> least;
  std::optional<double> most;
  for (const ContestLine& line : contest.lines) {
    const auto& entry = line.entries[contestant];
    if (!entry || !entry->against) { continue; }
    least = std::min(least.value_or(*entry->against), *entry->against);
    most = std::max(most.value_or(*entry->against), *entry->against);
  }
  if (!least) { return "not known"; }
  return cost_figure(*least) + (*most > *least ? fmt::format(" to {}", cost_figure(*most)) : "");
}

std::string costs_text(const Contest& contest) {
  if (contest.against.empty()) { return ""; }
  std::string text;
  for (std::size_t i = 0; i < contest.contestants.size(); ++i) {
    text += fmt::format("# {}: {} {}\n", letter(i), printable(contest.against), cost_range(contest, i));
  }
  const bool known = std::any_of(contest.lines.begin(), contest.lines.end(), [](const ContestLine& line) {
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

std::string table(const Contest& contest) {
  Columns columns(contest.conditions);
  for (const ContestLine& line : contest.lines) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < line.conditions.size(); ++i) {
      texts.push_back(contest.conditions[i] == "bytes" && line.size > 0 ? size_text(line.size) : line.conditions[i]);
    }
    for (std::size_t i = 0; i < line.entries.size(); ++i) {
      columns.put(texts, letter(i), line.entries[i] ? fmt::format("{:.6g}", line.entries[i]->value) : "-");
    }
    const auto& base = line.entries[contest.base];
    for (std::size_t i = 0; i < line.entries.size(); ++i) {
      if (i == contest.base) { continue; }
      const bool both = base && line.entries[i] && base->value > 0;
      columns.put(texts, fmt::format("{}/{}", letter(i), letter(contest.base)),
                  both ? fmt::format("{:.3f}", line.entries[i]->value / base->value) : "-");
    }
    columns.put(texts, "best", line.winners.empty() ? "equal" : letters(line.winners));
    if (!contest.against.empty()) { columns.put(texts, "front", letters(contest.front(line))); }
    columns.add(std::move(texts));
  }
  return columns.text();
}

std::string summary(const Contest& contest) {
  const std::vector<std::size_t> wins = contest.wins();
  std::string text;
  for (std::size_t i = 0; i < contest.contestants.size(); ++i) {
    text += fmt::format("# {}: best at {} of {}", letter(i), wins[i], contest.lines.size());
    const double ratio = contest.mean_ratio(i);
    if (i != contest.base && ratio > 0) {
      text += fmt::format("; {:.3f} of {} on average (geometric mean)", ratio, letter(contest.base));
    }
    if (contest.extrapolated[i] > 0) { text += fmt::format("; {} results extrapolated", contest.extrapolated[i]); }
    text += "\n";
  }
  text += costs_text(contest);
  for (const Crossover& each : contest.crossovers()) {
    text +=
        fmt::format("# {} overtakes {} at about {} (between {} and {}){}\n", letter(each.after), letter(each.before),
                    about(each.at), size_text(each.from), size_text(each.to),
                    each.conditions.empty() ? "" : "; " + printable(fmt::format("{}", joined(each.conditions, ", "))));
  }
  if (contest.unmatched > 0) {
    text += fmt::format("# {} conditions left out that one contestant alone has\n", contest.unmatched);
  }
  return text;
}

Json conditions_json(const std::vector<std::string>& names, const std::vector<std::string>& values) {
  Json json = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) { json[names[i]] = values[i]; }
  return json;
}

}  // namespace

std::string contest_text(const Contest& contest) { return legend(contest) + table(contest) + summary(contest); }

Json contest_json(const Contest& contest) {
  Json lines = Json::list();
  for (const ContestLine& line : contest.lines) {
    Json json = conditions_json(contest.conditions, line.conditions);
    if (line.size > 0) { json["bytes"] = static_cast<std::int64_t>(line.size); }
    const auto& base = line.entries[contest.base];
    for (const char* key : {"values", "ratios", "algorithms"}) { json[key] = Json::list(); }
    for (const auto& entry : line.entries) {
      json["values"].push_back(entry ? Json(entry->value) : Json());
      json["ratios"].push_back(entry && base && base->value > 0 ? Json(entry->value / base->value) : Json());
      json["algorithms"].push_back(entry ? Json(entry->algorithm) : Json());
    }
    if (!contest.against.empty()) {
      json["against"] = Json::list();
      for (const auto& entry : line.entries) {
        json["against"].push_back(entry && entry->against ? Json(*entry->against) : Json());
      }
      json["front"] = Json::list();
      for (const std::size_t each : contest.front(line)) { json["front"].push_back(contest.contestants[each]); }
    }
    json["winners"] = Json::list();
    for (const std::size_t each : line.winners) { json["winners"].push_back(contest.contestants[each]); }
    lines.push_back(std::move(json));
  }
  std::vector<double> ratios;
  for (std::size_t i = 0; i < contest.contestants.size(); ++i) { ratios.push_back(contest.mean_ratio(i)); }
  std::vector<std::string> others = contest.conditions;
  std::erase(others, "bytes");
  Json crossovers = Json::list();
  for (const Crossover& each : contest.crossovers()) {
    crossovers.push_back(conditions_json(others, each.conditions));
    crossovers.back().update(Json{{"before", contest.contestants[each.before]},
                                  {"after", contest.contestants[each.after]},
                                  {"from_bytes", each.from},
                                  {"to_bytes", each.to},
                                  {"at_bytes", each.at}});
  }
  return {{"by", contest.by},
          {"figure", contest.figure},
          {"against", contest.against},
          {"more_is_better", contest.more_is_better},
          {"contestants", contest.contestants},
          {"base", contest.contestants[contest.base]},
          {"lines", lines},
          {"mean_ratios", ratios},
          {"wins", contest.wins()},
          {"extrapolated", contest.extrapolated},
          {"crossovers", crossovers}};
}

}  // namespace athanor
