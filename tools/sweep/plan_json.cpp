#include "tools/sweep/plan_json.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/config/foreign.hpp"
#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "sim/printable.hpp"

namespace athanor {

namespace {

void read_stored_axis(ObjectReader& reader, SweepAxis& axis) {
  const auto words = [](std::vector<std::string>& list) {
    return [&list](ValueReader& value) {
      value.list([&](ValueReader& word) { list.push_back(word.text().value_or("")); }, {0});
    };
  };
  reader.required("name", axis.name, "What it is called");
  reader.required("pointers", axis.pointers, "Into the scenario");
  reader.required_value("labels", "Of each step", words(axis.labels));
  reader.required_value("values", "Of each step, one for each pointer", [&](ValueReader& value) {
    value.list([&](ValueReader& step) { words(axis.values.emplace_back())(step); });
  });
}

/// What the fields of an axis have to do with each other.
void check_stored_axis(ObjectReader& reader, const SweepAxis& axis) {
  if (!axis.labels.empty() && axis.labels.size() != axis.size()) {
    reader.problem("labels", "wrong-size", fmt::format("{} labels of {} steps", axis.labels.size(), axis.size()));
  }
  for (const std::vector<std::string>& step : axis.values) {
    if (step.size() != axis.pointers.size()) {
      reader.problem("values", "wrong-size",
                     fmt::format("{} values of {} pointers", step.size(), axis.pointers.size()));
    }
    for (const std::string& value : step) {
      if (!json_value_of(value)) { reader.problem("values", "syntax", "a value is no JSON"); }
    }
  }
}

void read_stored_plan(ObjectReader& reader, SweepPlan& plan) {
  reader.required("cases", plan.cases, "Of the scenario");
  reader.required_value("axes", "What is varied", [&](ValueReader& axes) {
    axes.list(
        [&](ValueReader& each) {
          SweepAxis& axis = plan.axes.emplace_back();
          each.object([&](ObjectReader& fields) {
            read_stored_axis(fields, axis);
            if (fields.ok()) { check_stored_axis(fields, axis); }
          });
        },
        {0});
  });
  const std::string twice = titled_twice(plan.axes);
  if (!twice.empty()) { reader.problem("axes", "repeated", fmt::format("two axes are called '{}'", printable(twice))); }
}

}  // namespace

std::string to_json_text(const SweepPlan& plan) {
  JsonValue axes = JsonValue::list();
  for (const SweepAxis& axis : plan.axes) {
    axes.push_back(
        {{"name", axis.name}, {"pointers", axis.pointers}, {"values", axis.values}, {"labels", axis.labels}});
  }
  return text_of(JsonValue{{"cases", plan.cases}, {"axes", axes}});
}

SweepPlan plan_from_json(const std::string& text, const std::string& place) {
  SweepPlan plan;
  read_foreign(parse_foreign(text, place), [&](ObjectReader& reader) { read_stored_plan(reader, plan); });
  return plan;
}

}  // namespace athanor
