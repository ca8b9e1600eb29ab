#pragma once

#include <cstdint>
#include <string_view>

namespace athanor {

/// How a table writes the values of a column. All but `text` stand to the right.
enum class Format : std::uint8_t {
  text,            ///< words, to the left
  word,            ///< one word
  count,           ///< a whole number
  size,            ///< bytes; "own" for 0: messages have sizes of their own
  figure,          ///< as many decimals, two at most, as fit into the width
  one_decimal,     ///< 12.3
  two_decimals,    ///< 12.34
  percent,         ///< a share, in percent with two decimals
  signed_percent,  ///< a relative error, in percent with sign and one decimal
  milliseconds,    ///< seconds, in milliseconds; below 0.1 ms with four decimals
};

/// A figure of results, declared once: a key of JSON and CSV, and a column of tables. Values are put into a Record.
struct Column {
  std::string_view key;        ///< of JSON and CSV, with its unit: "time_us"; "": of tables alone
  std::string_view head = {};  ///< of tables; "": of JSON and CSV alone
  std::string_view unit = {};  ///< below the head: "(us)"
  std::uint8_t width = 0;      ///< in characters
  Format format = Format::figure;
  std::uint8_t gap = 1;  ///< blanks before it
};

}  // namespace athanor
