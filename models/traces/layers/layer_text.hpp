#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/traces/layers/layer_loop.hpp"

namespace athanor {

/// What both texts have in common: a first line, the number of layers, and a line of 12 columns for each.
class LayerText {
 public:
  /// A communication as the text writes it.
  struct Written {
    std::string_view type;  ///< without the suffix
    std::string_view suffix;
    std::int64_t size = 0;
    bool weight = false;  ///< of the weight gradient
    int line = 0;
  };
  using Group = std::function<std::optional<std::uint32_t>(const Written&)>;

  /// Reads the file. Throws FileError, and ScenarioError where it is larger than `options` allow.
  LayerText(const std::string& file, const TraceOptions& options, WorkloadDraft& draft);

  const std::vector<std::string_view>& first_line() const { return first_; }
  /// The layers; complains of lines that are none, and of fewer or more than announced. `group` finds the group of a
  /// communication, or none where that phase does not communicate. `gathered`: the size of an all-gather is that of its
  /// result, else of one rank's part.
  void read_layers(Time unit, bool gathered, const Group& group, LayerList& list);
  void complain(int line, const char* code, std::string message, std::string hint);

 private:
  bool read_layer(int line, const std::vector<std::string_view>& words, LayerList& list);
  std::optional<LayerList::Pass> pass(int line, const std::vector<std::string_view>& words, std::size_t at,
                                      const LayerList& list);
  std::optional<Time> time(int line, std::string_view word);

  std::string file_;
  std::string text_;
  WorkloadDraft& draft_;
  std::vector<std::string_view> first_;
  std::string_view rest_;
  Time unit_;
  bool gathered_ = false;
  const Group* group_ = nullptr;
};

}  // namespace athanor
