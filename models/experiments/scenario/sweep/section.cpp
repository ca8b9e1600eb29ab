#include "models/experiments/scenario/sweep/section.hpp"

#include <stdexcept>

#include <fmt/core.h>

#include "models/experiments/scenario/sweep/values.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

/// Of numbers in ranges: what they may be is for the scenario to say.
constexpr std::int64_t kMost = 1'000'000'000'000;
constexpr Range<Ratio> kAnyNumber{{-kMost, 1}, {kMost, 1}};

/// One place and what stands there.
struct Parameter {
  std::string pointer;
  std::vector<std::string> values;
};

/// A number, or a quantity.
void read_bound(FieldValue& value, std::string& text) {
  const auto number = [&](FieldValue& given) {
    Ratio shown;
    given.visit(shown, kAnyNumber);
    if (given.reading()) { text = text_of(*given.json()); }
  };
  const auto quantity = [&](FieldValue& given) {
    if (const auto written = given.text()) { text = *written; }
  };
  value.one_of({{Type::number, number}, {Type::string, quantity}});
}

/// Requires, where `needed`, that there are any.
void read_values(Fields& fields, bool needed, std::vector<std::string>& values) {
  fields.optional_value("values", "What it is, one after the other: any JSON", [&](FieldValue& value) {
    value.list([&](FieldValue& element) {
      if (element.reading()) { values.push_back(text_of(*element.json())); }
    });
  });
  ValueRange range;
  Ratio factor{2};
  fields.optional_value("from", "In place of values: the first one of a range, a number or a quantity",
                        [&](FieldValue& value) { read_bound(value, range.from); });
  fields.optional_value("to", "No value exceeds it", [&](FieldValue& value) { read_bound(value, range.to); });
  fields.optional_value("step", "From one value to the next, in place of a factor",
                        [&](FieldValue& value) { read_bound(value, range.step); });
  fields.optional_or("factor", factor, Ratio{2}, "From one value to the next", {{1, 1}, {kMost, 1}});
  if (!fields.ok()) { return; }
  if (!needed) {
    for (const char* key : {"values", "from", "to", "step", "factor"}) {
      if (!fields.has(key)) { continue; }
      fields.problem(key, "conflict", "linked parameters have values of their own", "move it into \"linked\"");
    }
    return;
  }
  if (fields.has("values") != (range.from.empty() && range.to.empty())) {
    fields.problem("", "conflict", "a parameter has values, or a range in their place",
                   R"(write "values": [...], or "from" and "to" with "step" or "factor")");
  } else if (!fields.has("values") && (range.from.empty() || range.to.empty())) {
    fields.problem("", "missing-key", "a range has a begin and an end", R"(write both "from" and "to")");
  } else if (fields.has("step") && fields.has("factor")) {
    fields.problem("step", "conflict", "a range has a step or a factor", "take one of them out");
  } else if (!fields.has("values")) {
    range.factor = to_double(factor);
    try {
      values = expand(range);
    } catch (const std::invalid_argument& error) {
      fields.problem("from", "out-of-range", error.what(), R"(such as "from": 8, "to": 1024, "factor": 2)");
    }
  }
}

void read_pointer(FieldValue& value, std::string& pointer) {
  const auto text = value.text("^/");
  if (!text) { return; }
  if (text->size() < 2 || text->front() != '/' || text->find('=') != std::string::npos) {
    value.problem("wrong-type", fmt::format("'{}' is no JSON pointer into the scenario", *text),
                  R"(such as "/collective/ranks")");
    return;
  }
  pointer = *text;
}

void add(const Parameter& parameter, SweepAxis& axis) {
  if (axis.pointers.empty()) { axis.values.resize(parameter.values.size()); }
  axis.pointers.push_back(parameter.pointer);
  for (std::size_t i = 0; i < axis.values.size(); ++i) { axis.values[i].push_back(parameter.values[i]); }
}

void read_linked(Fields& fields, SweepAxis& axis) {
  fields.optional_objects("linked", "In place of one pointer: several that change together", [&](Fields& inner) {
    Parameter parameter;
    inner.required_value("pointer", "Where in the scenario",
                         [&](FieldValue& value) { read_pointer(value, parameter.pointer); });
    read_values(inner, true, parameter.values);
    if (!inner.ok()) { return; }
    if (!axis.pointers.empty() && parameter.values.size() != axis.size()) {
      inner.problem("", "wrong-length",
                    fmt::format("{} values are linked with {}", parameter.values.size(), axis.size()),
                    "linked parameters have as many values each");
      return;
    }
    add(parameter, axis);
  });
}

void read_axis(Fields& fields, SweepAxis& axis) {
  Parameter parameter;
  fields.optional_value("pointer", "Where in the scenario, as a JSON pointer (RFC 6901)",
                        [&](FieldValue& value) { read_pointer(value, parameter.pointer); });
  read_values(fields, !fields.has("linked"), parameter.values);
  read_linked(fields, axis);
  fields.optional("name", axis.name, "As tables and plots name it; default: the last word of the pointer");
  fields.optional("labels", axis.labels, "Of the values, as tables and plots name them");
  if (!fields.ok()) { return; }
  if (fields.has("pointer") == fields.has("linked")) {
    fields.problem("", "conflict", "a parameter is one pointer with its values, or several that are linked",
                   R"(write "pointer", or "linked")");
    return;
  }
  if (fields.has("pointer")) { add(parameter, axis); }
  if (!axis.labels.empty() && axis.labels.size() != axis.size()) {
    fields.problem("labels", "wrong-length", fmt::format("{} labels for {} values", axis.labels.size(), axis.size()),
                   "write a label for each value");
  }
}

}  // namespace

void visit(Fields& fields, std::vector<SweepAxis>& axes) {
  fields.required_objects("parameters", "What is varied; all combinations are simulated", [&](Fields& inner) {
    SweepAxis axis;
    read_axis(inner, axis);
    if (!inner.ok() || axis.pointers.empty()) { return; }
    axes.push_back(std::move(axis));
    const std::string twice = set_twice(axes);
    if (twice.empty()) { return; }
    inner.problem("", "conflict", fmt::format("{} is varied by two parameters", twice), "vary it once, or link it");
    axes.pop_back();
  });
}

}  // namespace athanor
