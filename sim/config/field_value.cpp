#include "sim/config/field_value.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/fields.hpp"
#include "sim/format.hpp"
#include "sim/parse.hpp"
#include "sim/words.hpp"

namespace athanor {

void Problems::throw_if_any() const {
  if (list_.empty()) { return; }
  std::vector<Problem> sorted = list_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return a.place.file == b.place.file &&
           std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
  throw ScenarioError(std::move(sorted));
}

FieldValue::FieldValue(const Document& document, Problems& problems, const JsonValue& value, std::string pointer)
    : document_(&document),
      problems_(&problems),
      json_(&value),
      pointer_(std::move(pointer)),
      problems_before_(problems.size()) {}

SourceLocation FieldValue::place() const { return reading() ? document_->place(pointer_) : SourceLocation{}; }

void FieldValue::problem(std::string code, std::string message, std::string hint) {
  if (reading()) { problems_->add({std::move(code), std::move(message), place(), std::move(hint)}); }
}

namespace {

/// What was found, short enough for a message.
std::string found(const JsonValue& value) {
  if (value.is_object()) { return "an object"; }
  if (value.is_list()) { return "a list"; }
  constexpr std::size_t kMost = 60;
  std::string text = text_of(value);
  if (text.size() > kMost) { text = text.substr(0, kMost) + "..."; }
  return text;
}

template <class T>
std::string shown(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return fmt::format("{}", value);
  } else {
    return to_string(value);
  }
}

template <class T>
std::string expectation(const Range<T>& range) {
  if (range.most == Natural<T>::most && !std::is_same_v<T, Ratio>) {
    return fmt::format("at least {}", shown(range.least));
  }
  return fmt::format("from {} to {}", shown(range.least), shown(range.most));
}

template <class T>
void store(FieldValue& field, T value, T& target, const Range<T>& range) {
  if (value >= range.least && value <= range.most) {
    target = value;
    return;
  }
  field.problem("out-of-range", fmt::format("{} is out of range", found(*field.json())),
                "expected " + expectation(range));
}

template <class T>
void read_quantity(FieldValue& field, T& target, const Range<T>& range, Parsed<T> (*parse)(std::string_view)) {
  const JsonValue& value = *field.json();
  if (!value.is_string() && !value.is_number()) {
    const Mistake expected = parse("").mistake;
    field.problem("wrong-type", fmt::format("found {}, expected a string with a unit", found(value)), expected.hint);
    return;
  }
  const Parsed<T> parsed = parse(value.is_string() ? value.string() : text_of(value));
  if (parsed.value) {
    store(field, *parsed.value, target, range);
  } else {
    field.problem(parsed.mistake.code, parsed.mistake.message, parsed.mistake.hint);
  }
}

}  // namespace

bool FieldValue::expect(bool type_fits, std::string_view expected) {
  if (!type_fits) { problem("wrong-type", fmt::format("found {}, expected {}", found(*json_), expected)); }
  return type_fits;
}

bool FieldValue::expect_string() {
  if (!json_->is_number()) { return expect(json_->is_string(), "a string"); }
  // It is not taken for a string, since it has lost what one has: 2.20 is 2.2.
  const SourceLocation at = place();
  problem("wrong-type", fmt::format("found {}, expected a string", found(*json_)),
          at.file == "--set" ? fmt::format(R"(write quotes within the shell's: --set '{}="..."')", at.pointer)
                             : "write it in quotes");
  return false;
}

namespace {

/// fmt prints the shortest digits that give the same double: those that were written, up to 15 of them.
Parsed<Ratio> decimal_of(const JsonValue& number) {
  return parse_ratio(number.is_floating() ? fmt::format("{}", number.number()) : text_of(number));
}

/// "1e12" and "4.0" are whole numbers, too; none where it is no whole number, or exceeds 64 bits.
std::optional<std::int64_t> whole_number(const JsonValue& number) {
  if (!number.is_floating()) { return number.whole(); }
  const Parsed<Ratio> parsed = decimal_of(number);
  if (!parsed.value || parsed.value->numerator % parsed.value->denominator != 0) { return std::nullopt; }
  return parsed.value->numerator / parsed.value->denominator;
}

void read_integer(FieldValue& field, std::int64_t& target, const Range<std::int64_t>& range) {
  const JsonValue& number = *field.json();
  if (!number.is_number() || (number.is_floating() && std::trunc(number.number()) != number.number())) {
    return field.problem("wrong-type", fmt::format("found {}, expected a whole number", found(number)));
  }
  if (const std::optional<std::int64_t> value = whole_number(number)) {
    store(field, *value, target, range);
  } else {
    field.problem("out-of-range", fmt::format("{} is out of range", found(number)),
                  fmt::format("expected from {} to {}", shown(range.least), shown(range.most)));
  }
}

void read_ratio(FieldValue& field, Ratio& target, const Range<Ratio>& range) {
  const JsonValue& number = *field.json();
  if (!number.is_number()) {
    return field.problem("wrong-type", fmt::format("found {}, expected a number", found(number)));
  }
  const Parsed<Ratio> parsed = decimal_of(number);
  if (parsed.value) {
    store(field, *parsed.value, target, range);
  } else {
    field.problem(parsed.mistake.code, parsed.mistake.message, parsed.mistake.hint);
  }
}

}  // namespace

void FieldValue::put(JsonValue value) {
  if (written_ != nullptr) { *written_ = std::move(value); }
}

template <class T>
void FieldValue::put_within(const T& value, const Range<T>& range) {
  if (written_ == nullptr || value < range.least || value > range.most) { return; }
  if constexpr (std::is_integral_v<T>) {
    put(value);
  } else if constexpr (std::is_same_v<T, Ratio>) {
    put(to_double(value));
  } else if (!optional_ || value != T::max()) {  // no limit is said by the absence of one
    put(written(value));
  }
}

void FieldValue::visit_exact(std::int64_t& target, const Range<std::int64_t>& range) {
  if (describing()) { return describe_integer(*schema_, target, range, optional_); }
  if (reading()) { read_integer(*this, target, range); }
  put_within(target, range);
}

void FieldValue::visit_exact(bool& target, const NoLimits& /*none*/) {
  if (describing()) { return describe_boolean(*schema_, target, optional_); }
  if (reading() && expect(json_->is_boolean(), "true or false")) { target = json_->boolean(); }
  put(target);
}

void FieldValue::visit_exact(std::string& target, const OneOf& allowed) {
  if (!allowed.words.empty()) {
    const auto at = std::find(allowed.words.begin(), allowed.words.end(), target);
    auto index = static_cast<std::size_t>(at - allowed.words.begin());
    if (at == allowed.words.end() && !writing()) { index = 0; }
    if (read_name(index, allowed.words)) { target = allowed.words[index]; }
    return;
  }
  if (describing()) { return describe_string(*schema_, target, optional_); }
  if (reading() && expect_string()) { target = json_->string(); }
  if (reading() || !optional_ || !target.empty()) { put(target); }
}

void FieldValue::visit_exact(Time& target, const Range<Time>& range) {
  if (describing()) { return describe_time(*schema_, target, range, optional_); }
  if (reading()) { read_quantity(*this, target, range, &parse_time); }
  put_within(target, range);
}

void FieldValue::visit_exact(WallTime& target, const Range<WallTime>& range) {
  if (describing()) { return describe_wall_time(*schema_, target, range, optional_); }
  if (reading()) { read_quantity(*this, target, range, &parse_wall_time); }
  put_within(target, range);
}

void FieldValue::visit_exact(Bytes& target, const Range<Bytes>& range) {
  if (describing()) { return describe_bytes(*schema_, target, range, optional_); }
  if (reading()) { read_quantity(*this, target, range, &parse_bytes); }
  put_within(target, range);
}

void FieldValue::visit_exact(Bandwidth& target, const Range<Bandwidth>& range) {
  if (describing()) { return describe_bandwidth(*schema_, target, range, optional_); }
  if (reading()) { read_quantity(*this, target, range, &parse_bandwidth); }
  put_within(target, range);
}

void FieldValue::visit_exact(Ratio& target, const Range<Ratio>& range) {
  if (describing()) { return describe_ratio(*schema_, target, range, optional_); }
  if (reading()) { read_ratio(*this, target, range); }
  put_within(target, range);
}

bool FieldValue::read_name(std::size_t& index, const std::vector<std::string>& names) {
  require(!names.empty(), "a field takes names, but none are given");
  if (describing()) {
    describe_name(*schema_, names, index, optional_);
    return false;
  }
  if (writing()) {
    if (index < names.size()) { put(names[index]); }
    return false;
  }
  if (!expect(json_->is_string(), fmt::format("one of {}", joined(names, ", ")))) { return false; }
  const std::string name = json_->string();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) {
    const std::string near = nearest(name, names);
    problem("unknown-name", fmt::format("'{}' is not one of {}", name, joined(names, ", ")),
            near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    return false;
  }
  index = static_cast<std::size_t>(at - names.begin());
  put(name);
  return true;
}

std::optional<std::string> FieldValue::text(std::string_view pattern) {
  if (describing()) { describe_text(*schema_, pattern); }
  if (!reading() || !expect_string()) { return std::nullopt; }
  return json_->string();
}

void FieldValue::object(const VisitObject& visit) {
  if (reading() && !expect(json_->is_object(), "an object")) { return; }
  put(JsonValue::object());
  Fields fields(*this);
  visit(fields);
  fields.finish();
  if (writing() && optional_ && written_->empty()) { put(nullptr); }
}

void FieldValue::list(const VisitValue& visit, Range<std::uint32_t> size) {
  if (describing()) {
    describe_list(*schema_, size);
    (*schema_)["items"] = JsonValue::object();  // anything, until the visit says more
    FieldValue element((*schema_)["items"]);
    return visit(element);
  }
  if (!reading() || !expect(json_->is_list(), "a list")) { return; }
  if (json_->size() < size.least || json_->size() > size.most) {
    problem("out-of-range", fmt::format("the list has {} elements", json_->size()),
            fmt::format("expected {}", expectation(size)));
  }
  put(JsonValue::list());
  for (std::size_t i = 0; i < json_->size(); ++i) {
    JsonValue form;
    FieldValue element(*document_, *problems_, json_->elements()[i], fmt::format("{}/{}", pointer_, i));
    element.index_ = i;
    element.written_ = written_ == nullptr ? nullptr : &form;
    visit(element);
    if (written_ != nullptr) { written_->push_back(form.is_null() ? json_->elements()[i] : std::move(form)); }
  }
}

void FieldValue::write_list(std::size_t size, const std::function<void(FieldValue&, std::size_t)>& visit) {
  if (size == 0 && optional_) { return; }
  JsonValue list = JsonValue::list();
  for (std::size_t i = 0; i < size; ++i) {
    JsonValue form;
    FieldValue element(form, omit_);
    visit(element, i);
    require(!form.is_null(), "element {} of a list cannot be written", i);
    list.push_back(std::move(form));
  }
  put(std::move(list));
}

void FieldValue::write_object(const VisitObject& visit, const VisitObject& fresh) {
  put(write_fields(visit, omit_ == Omit::nothing ? Detail::complete : Detail::brief, fresh));
}

namespace {

struct TypeName {
  std::string_view name;
  bool (*fits)(const JsonValue&);
};

TypeName type_name(FieldValue::Form::Type type) {
  using Type = FieldValue::Form::Type;
  switch (type) {
    case Type::string: return {"a string", [](const JsonValue& value) { return value.is_string(); }};
    case Type::number: return {"a number", [](const JsonValue& value) { return value.is_number(); }};
    case Type::boolean: return {"true or false", [](const JsonValue& value) { return value.is_boolean(); }};
    case Type::list: return {"a list", [](const JsonValue& value) { return value.is_list(); }};
    case Type::object: return {"an object", [](const JsonValue& value) { return value.is_object(); }};
  }
  return {};
}

}  // namespace

void FieldValue::one_of(std::initializer_list<Form> forms) {
  std::string expected;
  for (const Form& form : forms) {
    const TypeName type = type_name(form.type);
    expected += (expected.empty() ? "" : " or ");
    expected += type.name;
    if (describing()) {
      (*schema_)["anyOf"].push_back(JsonValue::object());
      FieldValue inner((*schema_)["anyOf"].back());
      form.visit(inner);
    } else if (writing()) {
      form.visit(*this);
      if (!written_->is_null()) { return; }
    } else if (type.fits(*json_)) {
      return form.visit(*this);
    }
  }
  if (reading()) { expect(false, expected); }
}

}  // namespace athanor
