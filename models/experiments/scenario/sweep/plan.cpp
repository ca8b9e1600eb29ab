#include "models/experiments/scenario/sweep/plan.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/core.h>

#include "models/experiments/scenario/sweep/values.hpp"
#include "sim/check.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// What a JSON text says: a string without its quotes.
std::string plain(const std::string& json) {
  const auto value = json_value_of(json, Comments::refused);
  return value && value->is_string() ? value->string() : json;
}

/// "/cluster/fabric/oversubscription" is "oversubscription"; a number belongs to the word before it.
std::string short_name(const std::string& pointer) {
  std::size_t begin = pointer.rfind('/');
  const auto is_number = [&](std::size_t from) {
    return from + 1 < pointer.size() && pointer.find_first_not_of("0123456789/", from) == std::string::npos;
  };
  while (begin > 0 && is_number(begin)) { begin = pointer.rfind('/', begin - 1); }
  return pointer.substr(begin + 1);
}

}  // namespace

std::string SweepAxis::title() const {
  if (!name.empty()) { return name; }
  std::vector<std::string> names;
  for (const std::string& pointer : pointers) { names.push_back(short_name(pointer)); }
  return fmt::format("{}", joined(names, ", "));
}

std::string SweepAxis::label(std::size_t step) const {
  if (!labels.empty()) { return labels.at(step); }
  std::vector<std::string> texts;
  for (const std::string& value : values.at(step)) { texts.push_back(plain(value)); }
  return fmt::format("{}", joined(texts, ", "));
}

std::uint64_t SweepPlan::points() const {
  std::uint64_t count = cases.size();
  for (const SweepAxis& axis : axes) {
    if (axis.size() == 0) { return 0; }
    if (count > kMostPoints / axis.size()) { return kMostPoints; }
    count *= axis.size();
  }
  return count;
}

SweepPlan::Point SweepPlan::point(std::uint64_t index) const {
  require(index < points(), "point {} of a sweep of {}", index, points());
  Point point;
  point.steps.resize(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    point.steps[i] = static_cast<std::size_t>(index % axes[i].size());
    index /= axes[i].size();
  }
  point.scenario_case = static_cast<std::size_t>(index);
  return point;
}

std::vector<std::string> SweepPlan::settings(const Point& point) const {
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const SweepAxis& axis = axes[i];
    for (std::size_t j = 0; j < axis.pointers.size(); ++j) {
      settings.push_back(fmt::format("{}={}", axis.pointers[j], axis.values[point.steps[i]][j]));
    }
  }
  return settings;
}

SweepAxis parse_axis(std::string_view text) {
  SweepAxis axis;
  const auto fail = [&](std::string_view why) {
    throw UsageError(fmt::format(
        "--vary '{}': {}; write /json/pointer=values, such as /collective/ranks=8..1024 or /seed=1,2,3", text, why));
  };
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view part = rest.substr(0, end);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals < 2 || part.front() != '/') {
      fail("there is no pointer with values");
    }
    std::vector<std::string> values;
    try {
      values = parse_values(part.substr(equals + 1));
    } catch (const std::invalid_argument& error) { fail(error.what()); }
    if (axis.pointers.empty()) { axis.values.resize(values.size()); }
    if (values.size() != axis.values.size()) {
      fail(
          fmt::format("{} values are linked with {}; linked parameters have as many each", values.size(), axis.size()));
    }
    axis.pointers.emplace_back(part.substr(0, equals));
    for (std::size_t i = 0; i < values.size(); ++i) { axis.values[i].push_back(std::move(values[i])); }
    if (end == rest.size()) { return axis; }
    rest.remove_prefix(end + 1);
  }
}

std::string set_twice(const std::vector<SweepAxis>& axes) {
  std::vector<std::string> seen;
  for (const SweepAxis& axis : axes) {
    for (const std::string& pointer : axis.pointers) {
      if (std::find(seen.begin(), seen.end(), pointer) != seen.end()) { return pointer; }
      seen.push_back(pointer);
    }
  }
  return "";
}

std::string titled_twice(const std::vector<SweepAxis>& axes) {
  std::vector<std::string> seen;
  for (const SweepAxis& axis : axes) {
    if (std::find(seen.begin(), seen.end(), axis.title()) != seen.end()) { return axis.title(); }
    seen.push_back(axis.title());
  }
  return "";
}

namespace {

/// Its pointers from the word on that is `words` words before the last.
std::string long_title(const SweepAxis& axis, std::size_t words) {
  std::vector<std::string> names;
  for (const std::string& pointer : axis.pointers) {
    std::size_t begin = pointer.rfind('/' + short_name(pointer));
    for (std::size_t i = 0; i < words && begin > 0; ++i) { begin = pointer.rfind('/', begin - 1); }
    names.push_back(pointer.substr(begin + 1));
  }
  return fmt::format("{}", joined(names, ", "));
}

/// Names axes that have none by more of their pointers, where their last words are the same.
void name_apart(std::vector<SweepAxis>& axes) {
  std::vector<bool> chosen;
  for (const SweepAxis& axis : axes) { chosen.push_back(!axis.name.empty()); }
  std::vector<std::size_t> words(axes.size(), 0);
  for (std::string twice = titled_twice(axes); !twice.empty(); twice = titled_twice(axes)) {
    bool changed = false;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (chosen[i] || axes[i].title() != twice) { continue; }
      axes[i].name = long_title(axes[i], ++words[i]);
      changed = changed || axes[i].name != twice;
    }
    if (!changed) { throw UsageError(fmt::format("sweep: two parameters are called '{}'; give each a name", twice)); }
  }
}

void require_labels_apart(const SweepAxis& axis) {
  std::set<std::string> seen;
  for (std::size_t step = 0; step < axis.size(); ++step) {
    if (seen.insert(axis.label(step)).second) { continue; }
    throw UsageError(
        fmt::format("sweep: two steps of '{}' are called '{}'; vary it over values that differ, or give each "
                    "step a label of its own",
                    axis.title(), axis.label(step)));
  }
}

}  // namespace

std::vector<SweepAxis> joined(std::vector<SweepAxis> axes, std::vector<SweepAxis> later) {
  for (SweepAxis& axis : later) {
    const auto same =
        std::find_if(axes.begin(), axes.end(), [&](const SweepAxis& each) { return each.pointers == axis.pointers; });
    if (same != axes.end()) {
      *same = std::move(axis);
    } else {
      axes.push_back(std::move(axis));
    }
  }
  const std::string twice = set_twice(axes);
  if (!twice.empty()) {
    throw UsageError(fmt::format("sweep: two parameters set {}; vary it once, or link it", twice));
  }
  name_apart(axes);
  for (const SweepAxis& axis : axes) { require_labels_apart(axis); }
  return axes;
}

}  // namespace athanor
