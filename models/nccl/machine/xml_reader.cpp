#include "models/nccl/machine/xml_reader.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace athanor {

namespace {

constexpr std::size_t kMostProblems = 20;

template <class Number>
bool reads(std::string_view text, Number& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

XmlReader::XmlReader(std::string_view text, const std::string& file, Problems& problems)
    : file_(file), lines_(text), problems_(problems) {
  const pugi::xml_parse_result result = xml_.load_buffer(text.data(), text.size());
  if (result) { return; }
  add({"not-xml", fmt::format("this is no XML: {}", result.description()), lines_.place(file_, result.offset),
       "give the whole file"});
}

pugi::xml_node XmlReader::root(const char* element, const std::string& hint) {
  const pugi::xml_node found = xml_.child(element);
  if (!found && ok()) { add({"not-nccl", fmt::format("there is no <{}> element", element), {file_, 1, 1, ""}, hint}); }
  return found;
}

int XmlReader::line(const pugi::xml_node& node) const {
  return lines_.place(file_, std::max<std::ptrdiff_t>(0, node.offset_debug() - 1)).line;
}

void XmlReader::add(Problem problem) {
  if (++told_ <= kMostProblems) { problems_.add(std::move(problem)); }
}

void XmlReader::problem(const pugi::xml_node& node, std::string code, const std::string& message, std::string hint) {
  add({std::move(code), fmt::format("<{}>: {}", node.name(), message), {file_, line(node), 1, ""}, std::move(hint)});
}

std::int64_t XmlReader::number(const pugi::xml_node& node, const char* attribute, std::int64_t absent) {
  const pugi::xml_attribute found = node.attribute(attribute);
  std::int64_t value = absent;
  if (!found || reads(found.value(), value)) { return value; }
  problem(node, "wrong-number", fmt::format("{} '{}' is no whole number", attribute, found.value()));
  return absent;
}

std::uint32_t XmlReader::count(const pugi::xml_node& node, const char* attribute, std::int64_t most) {
  const std::int64_t value = number(node, attribute, 0);
  if (value >= 0 && value <= most) { return static_cast<std::uint32_t>(value); }
  problem(node, "wrong-number", fmt::format("{} {} is out of range", attribute, value),
          fmt::format("0 to {} is possible", most));
  return 0;
}

double XmlReader::real(const pugi::xml_node& node, const char* attribute, double most) {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found) { return 0; }
  const std::string_view text = found.value();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= 0 && value <= most) { return value; }
  problem(node, "wrong-number", fmt::format("{} '{}' is no number from 0 to {}", attribute, text, most));
  return 0;
}

std::uint64_t XmlReader::identifier(const pugi::xml_node& node, const char* attribute) {
  const std::string_view text = node.attribute(attribute).value();
  const bool hexadecimal = text.starts_with("0x");
  std::uint64_t value = 0;
  if (reads(hexadecimal ? text.substr(2) : text, value, hexadecimal ? 16 : 10)) { return value; }
  problem(node, "wrong-number", fmt::format("{} '{}' is no number", attribute, text));
  return 0;
}

}  // namespace athanor
