#include "tools/cli/option_fields.hpp"

#include <charconv>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

OptionField& OptionFields::add(const char* name, const char* value, const char* meaning) {
  OptionField& field = groups_.back().fields.emplace_back();
  const std::string_view names = name;
  const std::size_t comma = names.find(',');
  field.name = names.substr(0, comma);
  field.letter = comma == std::string_view::npos ? "" : names.substr(comma + 1);
  field.value = value;
  field.meaning = meaning;
  return field;
}

void OptionFields::flag(const char* name, bool& target, const char* meaning) {
  add(name, "", meaning).take = [&target](const std::string& /*text*/) { target = true; };
}

void OptionFields::text(const char* name, const char* value, std::optional<std::string>& target, const char* meaning) {
  add(name, value, meaning).take = [&target](const std::string& text) { target = text; };
}

void OptionFields::text(const char* name, const char* value, std::string& target, const char* meaning) {
  OptionField& field = add(name, value, meaning);
  field.absent = target;
  field.take = [&target](const std::string& text) { target = text; };
}

void OptionFields::texts(const char* name, const char* value, std::vector<std::string>& target, const char* meaning) {
  OptionField& field = add(name, value, meaning);
  field.repeatable = true;
  field.take = [&target](const std::string& text) { target.push_back(text); };
}

void OptionFields::written_file(const char* name, std::optional<std::string>& target, const char* meaning) {
  text(name, "FILE", target, meaning);
  groups_.back().fields.back().writes_file = true;
}

void OptionFields::written_file_or_stdout(const char* name, std::optional<std::string>& target, const char* meaning) {
  text(name, "[=FILE]", target, meaning);
  groups_.back().fields.back().writes_file = true;
}

void OptionFields::number(const char* name, const char* value, std::optional<std::uint32_t>& target,
                          std::uint32_t least, const char* meaning) {
  convert(name, value, target, meaning, [this, least](const std::string& option, const std::string& text) {
    return number_in(command_, option, text, least);
  });
}

void OptionFields::number(const char* name, const char* value, std::uint32_t& target, std::uint32_t least,
                          const char* meaning) {
  convert(name, value, target, meaning, [this, least](const std::string& option, const std::string& text) {
    return number_in(command_, option, text, least);
  });
}

void OptionFields::numbers(const char* name, const char* value, std::vector<std::uint32_t>& target, std::uint32_t least,
                           const char* meaning) {
  convert(name, value, target, meaning, [this, least](const std::string& option, const std::string& text) {
    std::vector<std::uint32_t> numbers;
    for (const std::string& word : words_of(command_, option, text)) {
      numbers.push_back(number_in(command_, option, word, least));
    }
    return numbers;
  });
}

void OptionFields::words(const char* name, const char* value, std::optional<std::vector<std::string>>& target,
                         const char* meaning) {
  convert(name, value, target, meaning,
          [this](const std::string& option, const std::string& text) { return words_of(command_, option, text); });
}

void OptionFields::size(const char* name, const char* value, std::optional<Bytes>& target, const char* meaning) {
  convert(name, value, target, meaning, [this](const std::string& option, const std::string& text) {
    const Bytes size = quantity_in(command_, option, text, &parse_bytes);
    if (size < Bytes::zero()) { throw UsageError(fmt::format("{}: --{} '{}' is negative", command_, option, text)); }
    return size;
  });
}

void OptionFields::dimensions(const char* name, const char* value, std::span<std::uint32_t> target,
                              const char* meaning) {
  OptionField& field = add(name, value, meaning);
  field.take = [this, option = field.name, target](const std::string& text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::uint32_t& side : target) {
      const auto [stop, mistake] = std::from_chars(at, end, side);
      if (mistake != std::errc() || side == 0) { break; }
      if (stop == end) { return; }
      if (*stop != 'x') { break; }
      at = stop + 1;
    }
    throw UsageError(fmt::format("{}: --{} '{}' is not as in 4x4 or 8x8x16, of {} sides at most", command_, option,
                                 text, target.size()));
  };
}

}  // namespace athanor
