#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// What one sweep varies at a time: one place of the scenario, or several that change together.
struct SweepAxis {
  std::vector<std::string> pointers;             ///< into the scenario, at least one
  std::vector<std::vector<std::string>> values;  ///< of each step one for each pointer, as JSON
  std::vector<std::string> labels;               ///< of each step, as tables and plots name it; empty: by its values
  std::string name;                              ///< "": by its pointers

  std::size_t size() const { return values.size(); }
  /// What people call it: its name, or the last words of its pointers.
  std::string title() const;
  std::string label(std::size_t step) const;
};

constexpr std::uint64_t kMostPoints = UINT64_C(1) << 53;

/// Every combination of the steps of all axes, for each case of a scenario. Points are numbered from 0: cases vary
/// slowest, the last axis fastest.
struct SweepPlan {
  std::vector<std::string> cases;  ///< by name, at least one
  std::vector<SweepAxis> axes;

  /// kMostPoints where there are more.
  std::uint64_t points() const;

  struct Point {
    std::size_t scenario_case = 0;   ///< into cases
    std::vector<std::size_t> steps;  ///< of each axis
  };
  /// Requires index < points().
  Point point(std::uint64_t index) const;
  /// "/pointer=value" of all axes, as for Document::set.
  std::vector<std::string> settings(const Point& point) const;
};

/// "/collective/ranks=8..1024", or linked by ';': "/cluster/nodes=1,2;/collective/ranks=8,16". Throws UsageError, which
/// names the option.
SweepAxis parse_axis(std::string_view text);

/// A pointer that two of them set; "": there is none.
std::string set_twice(const std::vector<SweepAxis>& axes);

/// A title that two of them have; "": there is none. Titles tell the axes apart in tables, plots and files.
std::string titled_twice(const std::vector<SweepAxis>& axes);

/// Later axes take the place of earlier ones with the same pointers. Throws UsageError where two axes set the same
/// pointer and are not the same, two have the same name, and where two steps of an axis have the same label: such
/// points could not be told apart. Axes that would be called the same by the last word of their pointers get more
/// words.
std::vector<SweepAxis> joined(std::vector<SweepAxis> axes, std::vector<SweepAxis> later);

}  // namespace athanor
