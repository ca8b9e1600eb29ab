#include "tools/sweep/plan_json.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/config/foreign.hpp"
#include "sim/config/json_value.hpp"
#include "sim/printable.hpp"

namespace athanor {

namespace {

void read_stored_axis(Fields& fields, SweepAxis& axis) {
  const auto words = [](std::vector<std::string>& list) {
    return [&list](FieldValue& value) {
      value.list([&](FieldValue& word) { list.push_back(word.text().value_or("")); }, {0});
    };
  };
  fields.required("name", axis.name, "What it is called");
  fields.required("pointers", axis.pointers, "Into the scenario");
  fields.required_value("labels", "Of each step", words(axis.labels));
  fields.required_value("values", "Of each step, one for each pointer", [&](FieldValue& value) {
    value.list([&](FieldValue& step) { words(axis.values.emplace_back())(step); });
  });
}

/// What the fields of an axis have to do with each other.
void check_stored_axis(Fields& fields, const SweepAxis& axis) {
  if (!axis.labels.empty() && axis.labels.size() != axis.size()) {
    fields.problem("labels", "wrong-size", fmt::format("{} labels of {} steps", axis.labels.size(), axis.size()));
  }
  for (const std::vector<std::string>& step : axis.values) {
    if (step.size() != axis.pointers.size()) {
      fields.problem("values", "wrong-size",
                     fmt::format("{} values of {} pointers", step.size(), axis.pointers.size()));
    }
    for (const std::string& value : step) {
      if (!json_value_of(value)) { fields.problem("values", "syntax", "a value is no JSON"); }
    }
  }
}

void read_stored_plan(Fields& fields, SweepPlan& plan) {
  fields.required("cases", plan.cases, "Of the scenario");
  fields.required_value("axes", "What is varied", [&](FieldValue& axes) {
    axes.list(
        [&](FieldValue& each) {
          SweepAxis& axis = plan.axes.emplace_back();
          each.object([&](Fields& inner) {
            read_stored_axis(inner, axis);
            if (inner.ok()) { check_stored_axis(inner, axis); }
          });
        },
        {0});
  });
  const std::string twice = titled_twice(plan.axes);
  if (!twice.empty()) { fields.problem("axes", "repeated", fmt::format("two axes are called '{}'", printable(twice))); }
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
  read_foreign(parse_foreign(text, place), [&](Fields& fields) { read_stored_plan(fields, plan); });
  return plan;
}

}  // namespace athanor
