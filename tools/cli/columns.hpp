#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// A size in the binary unit that keeps it above 1, with three digits, or four before the unit is full: "678 MiB".
std::string about(double bytes);

/// A table for people: words to the left, figures to the right, and columns that appear as they are met.
class Columns {
 public:
  /// `heads`: of the columns with words.
  explicit Columns(std::vector<std::string> heads);

  /// The text of a line in a column of figures, which is made where there is none with this head.
  void put(std::vector<std::string>& line, std::string_view head, std::string text);
  /// A line. One that has words only may have one word more, of any length.
  void add(std::vector<std::string> line);

  /// The head behind "# ", then the lines.
  std::string text() const;

 private:
  bool ends_in_remark(const std::vector<std::string>& line) const;
  std::vector<std::size_t> widths() const;
  std::string text_of_line(const std::vector<std::string>& line, const std::vector<std::size_t>& widths) const;

  std::size_t words_;
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace athanor
