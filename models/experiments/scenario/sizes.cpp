#include "models/experiments/scenario/sizes.hpp"

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

using Sizes = std::vector<Bytes>;
constexpr const char* kSyntax =
    R"(write "1MiB", "8B..8GiB", "8B..8GiB*4", ["1MiB", "3MiB"] or {"from": "8B", "to": "1GiB", "factor": 4})";

Parsed<Sizes> mistake(std::string code, std::string message, std::string hint = kSyntax) {
  return {std::nullopt, {std::move(code), std::move(message), std::move(hint)}};
}

/// from, from x factor, ... up to `to`.
Parsed<Sizes> progression(Bytes from, Bytes to, std::int64_t factor) {
  if (from <= Bytes::zero()) { return mistake("out-of-range", "a range of sizes starts above 0 B"); }
  if (to < from) {
    return mistake("empty-range", fmt::format("the range of sizes {}..{} is empty", to_string(from), to_string(to)),
                   "write the smaller size first");
  }
  Sizes sizes{from};
  while (sizes.back() <= to / factor) { sizes.push_back(sizes.back() * factor); }
  return {std::move(sizes), {}};
}

Parsed<Bytes> parse_size(std::string_view text) {
  Parsed<Bytes> size = parse_bytes(text);
  if (size.value && *size.value < Bytes::zero()) {
    return {std::nullopt, {"out-of-range", fmt::format("'{}' is a negative size", text), "sizes are 0B or more"}};
  }
  return size;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// From one size to the next: what follows a '*'.
Parsed<std::int64_t> parse_factor(std::string_view text) {
  constexpr std::uint64_t kMost = 1 << 30;
  const std::optional<std::uint64_t> factor = parse_count(text);
  if (factor && *factor >= 2 && *factor <= kMost) { return {static_cast<std::int64_t>(*factor), {}}; }
  return {
      std::nullopt,
      {"out-of-range", fmt::format("'{}' is not a factor from one size to the next", text), "2 or more: 8B..8GiB*4"}};
}

/// "1MiB", "8B..8GiB" or "8B..8GiB*4".
Parsed<Sizes> parse_part(std::string_view text) {
  const std::size_t dots = text.find("..");
  const Parsed<Bytes> from = parse_size(trimmed(text.substr(0, dots)));
  if (!from.value) { return {std::nullopt, from.mistake}; }
  if (dots == std::string_view::npos) { return {Sizes{*from.value}, {}}; }
  const std::string_view last = text.substr(dots + 2);
  const std::size_t star = last.find('*');
  const Parsed<Bytes> to = parse_size(trimmed(last.substr(0, star)));
  if (!to.value) { return {std::nullopt, to.mistake}; }
  if (star == std::string_view::npos) { return progression(*from.value, *to.value, 2); }
  const Parsed<std::int64_t> factor = parse_factor(trimmed(last.substr(star + 1)));
  return factor.value ? progression(*from.value, *to.value, *factor.value)
                      : Parsed<Sizes>{std::nullopt, factor.mistake};
}

void read_text(FieldValue& value, Sizes& sizes) {
  const auto text = value.text();
  if (!text) { return; }
  Parsed<Sizes> parsed = parse_sizes(*text);
  if (!parsed.value) {
    value.problem(parsed.mistake.code, parsed.mistake.message, parsed.mistake.hint);
    return;
  }
  sizes = std::move(*parsed.value);
}

void read_progression(Fields& fields, Sizes& sizes) {
  Bytes from;
  Bytes to;
  std::uint32_t factor = 2;
  fields.required("from", from, "The first size", {Bytes{1}});
  fields.required("to", to, "No size exceeds it", {Bytes{1}});
  fields.optional("factor", factor, "From one size to the next", {2, 1U << 30});
  if (!fields.ok()) { return; }
  Parsed<Sizes> parsed = progression(from, to, factor);
  if (!parsed.value) {
    fields.problem("", parsed.mistake.code, parsed.mistake.message, parsed.mistake.hint);
    return;
  }
  sizes = std::move(*parsed.value);
}

}  // namespace

Parsed<Sizes> parse_sizes(std::string_view text) {
  Sizes sizes;
  while (true) {
    const std::size_t comma = text.find(',');
    Parsed<Sizes> part = parse_part(trimmed(text.substr(0, comma)));
    if (!part.value) { return part; }
    sizes.insert(sizes.end(), part.value->begin(), part.value->end());
    if (comma == std::string_view::npos) { break; }
    text.remove_prefix(comma + 1);
  }
  if (sizes.size() > kMostSizes) { return mistake("too-many", fmt::format("more than {} sizes", kMostSizes)); }
  return {std::move(sizes), {}};
}

void read_sizes(FieldValue& value, Sizes& sizes) {
  value.one_of({{Type::string, [&](FieldValue& text) { read_text(text, sizes); }},
                {Type::list, [&](FieldValue& list) { list.visit(sizes); }},
                {Type::object,
                 [&](FieldValue& range) { range.object([&](Fields& fields) { read_progression(fields, sizes); }); }}});
}

}  // namespace athanor
