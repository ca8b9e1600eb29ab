#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pugixml.hpp>

#include "sim/config/field_value.hpp"
#include "sim/lines.hpp"

namespace athanor {

/// An XML document of NCCL's, and what is wrong with it, by line: 20 problems at most.
class XmlReader {
 public:
  /// Borrows all three. A text that is no XML is a problem.
  XmlReader(std::string_view text, const std::string& file, Problems& problems);

  /// The outermost element of this name; without it a problem and an empty node.
  pugi::xml_node root(const char* element, const std::string& hint);
  /// Whether nothing was wrong so far.
  bool ok() const { return told_ == 0; }

  int line(const pugi::xml_node& node) const;
  /// The message is preceded by the element's name.
  void problem(const pugi::xml_node& node, std::string code, const std::string& message, std::string hint = "");

  /// A whole number; `absent` where the attribute is not there, a problem where it is no number.
  std::int64_t number(const pugi::xml_node& node, const char* attribute, std::int64_t absent);
  /// A whole number from 0 to `most`; 0 where the attribute is not there.
  std::uint32_t count(const pugi::xml_node& node, const char* attribute, std::int64_t most = 0xffffffff);
  /// A number from 0 to `most`; 0 where the attribute is not there.
  double real(const pugi::xml_node& node, const char* attribute, double most);
  /// "0x1f", and "31" as old versions wrote it.
  std::uint64_t identifier(const pugi::xml_node& node, const char* attribute);

 private:
  void add(Problem problem);

  const std::string& file_;
  Lines lines_;
  Problems& problems_;
  pugi::xml_document xml_;
  std::size_t told_ = 0;
};

}  // namespace athanor
