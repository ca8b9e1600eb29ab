#include "models/experiments/scenario/htsim_matrix.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include <fmt/core.h>

#include "sim/file.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Words = std::span<const std::string_view>;

/// Triggers are numbered as they turn up; `line` 0: named by a flow only, so far.
struct TriggerText {
  std::uint32_t number = 0;
  int line = 0;
  int used = 0;  ///< the line of a flow that names it
};

class MatrixReader {
 public:
  MatrixReader(const std::string& path, Problems& problems) : path_(path), problems_(problems) {}

  TrafficMatrix read(std::string_view text) {
    const std::size_t before = problems_.size();
    for (int line = 1; !text.empty() && problems_.size() == before; ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view content = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (content.ends_with('\r')) { content.remove_suffix(1); }
      const std::vector<std::string_view> words = words_of_line(content);
      if (!words.empty() && !words[0].starts_with('#')) { take(line, words); }
    }
    if (problems_.size() == before) { check_whole(); }
    return std::move(matrix_);
  }

 private:
  void problem(int line, const char* code, std::string message, std::string hint) {
    problems_.add({code, std::move(message), {path_, line, 0, ""}, std::move(hint)});
  }

  void take(int line, const std::vector<std::string_view>& words) {
    if (words[0].find("->") != std::string_view::npos) { return take_flow(line, words); }
    if (words[0] == "trigger") { return take_trigger(line, words); }
    if (words[0] == "Nodes" || words[0] == "Connections" || words[0] == "Triggers") {
      const auto count = words.size() == 2 ? whole_number_of(words[1]) : std::nullopt;
      if (!count) { return problem(line, "wrong-number", fmt::format("{} needs one whole number", words[0]), ""); }
      if (words[0] == "Connections") { connections_ = *count; }
      return;
    }
    problem(line, "unknown-key", fmt::format("'{}' begins no line of a connection matrix that is understood", words[0]),
            "flows (FROM->TO), triggers, Nodes, Connections and Triggers are");
  }

  /// A number from 0 up to `most`, or a problem.
  std::optional<std::int64_t> number(int line, std::string_view key, std::string_view word, std::int64_t most) {
    const auto value = whole_number_of(word);
    if (value && *value >= 0 && *value <= most) { return value; }
    problem(line, "wrong-number", fmt::format("{} is '{}', which is no whole number from 0 to {}", key, word, most),
            "");
    return std::nullopt;
  }

  std::uint32_t trigger(std::int64_t id, int line) {
    const auto [found, is_new] = triggers_.try_emplace(id);
    if (is_new) {
      found->second.number = static_cast<std::uint32_t>(matrix_.triggers.size());
      matrix_.triggers.push_back(1);
    }
    if (found->second.used == 0) { found->second.used = line; }
    return found->second.number;
  }

  void take_flow(int line, Words words) {
    const std::size_t arrow = words[0].find("->");
    const auto from = number(line, "the sender", words[0].substr(0, arrow), UINT32_MAX - 1);
    const auto to = number(line, "the receiver", words[0].substr(arrow + 2), UINT32_MAX - 1);
    if (!from || !to) { return; }
    if (*from == *to) { return problem(line, "to-itself", fmt::format("host {} sends to itself", *from), ""); }
    TrafficMatrix::Message message;
    message.connection = static_cast<std::uint32_t>(matrix_.connections.size());
    message.first_fired = static_cast<std::uint32_t>(matrix_.fires.size());
    if (words.size() % 2 == 0) {
      return problem(line, "wrong-number", fmt::format("'{}' has no value", words.back()),
                     "keys and values come in pairs");
    }
    for (std::size_t w = 1; w < words.size(); w += 2) {
      if (!take_key(line, words[w], words[w + 1], message)) { return; }
    }
    if (message.size == Bytes::zero()) {
      return problem(line, "missing-key", "the flow has no size, or one of 0", "as in size 1000000");
    }
    message.fired = static_cast<std::uint32_t>(matrix_.fires.size()) - message.first_fired;
    matrix_.connections.push_back({static_cast<std::uint32_t>(*from), static_cast<std::uint32_t>(*to)});
    matrix_.messages.push_back(message);
  }

  bool take_key(int line, std::string_view key, std::string_view word, TrafficMatrix::Message& message) {
    if (key == "prio" || key == "id") { return number(line, key, word, INT64_MAX).has_value(); }
    const auto value = number(line, key, word, INT64_MAX);
    if (!value) { return false; }
    if (key == "size") {
      message.size = Bytes{*value};
    } else if (key == "start") {
      message.start = Time{*value};
    } else if (key == "trigger") {
      message.trigger = trigger(*value, line);
    } else if (key == "send_done_trigger" || key == "recv_done_trigger") {
      matrix_.fires.push_back(trigger(*value, line));
    } else {
      problem(line, "unknown-key", fmt::format("'{}' is no key of a flow that is understood", key),
              "start, size, id, prio, trigger, send_done_trigger and recv_done_trigger are");
      return false;
    }
    return true;
  }

  void take_trigger(int line, Words words) {
    const bool barrier = words.size() == 6 && words[3] == "barrier" && words[4] == "count";
    const bool oneshot = words.size() == 4 && words[3] == "oneshot";
    if (!(barrier || oneshot) || words[1] != "id") {
      return problem(line, "unknown-trigger", "a trigger is `trigger id N oneshot` or `trigger id N barrier count K`",
                     "multishot triggers are not understood");
    }
    const auto id = number(line, "id", words[2], INT64_MAX);
    const auto count = barrier ? number(line, "count", words[5], UINT32_MAX) : std::optional<std::int64_t>(1);
    if (!id || !count) { return; }
    if (*count == 0) { return problem(line, "wrong-number", "a barrier of 0 never fires", "count at least one"); }
    const std::uint32_t index = trigger(*id, 0);
    TriggerText& known = triggers_[*id];
    if (known.line > 0) {
      return problem(line, "duplicate-key", fmt::format("trigger {} is on line {} already", *id, known.line),
                     "take one out");
    }
    known.line = line;
    matrix_.triggers[index] = static_cast<std::uint32_t>(*count);
  }

  void check_whole() {
    for (const auto& [id, known] : triggers_) {
      if (known.line > 0) { continue; }
      return problem(known.used, "no-such-trigger", fmt::format("there is no trigger {}", id),
                     "the file has no line `trigger id ...` of it");
    }
    if (matrix_.messages.empty()) { return problem(0, "no-flows", "the file has no flow", ""); }
    if (connections_ && *connections_ != static_cast<std::int64_t>(matrix_.messages.size())) {
      problem(0, "wrong-number",
              fmt::format("the file says {} connections and has {}", *connections_, matrix_.messages.size()),
              "is it cut off?");
    }
    const std::uint32_t stuck = never_fired(matrix_);
    for (const auto& [id, known] : triggers_) {
      if (known.number != stuck) { continue; }
      problem(
          known.line, "never-fires",
          fmt::format("trigger {} never fires: fewer flows count for it than it waits for, or they wait for it", id),
          "");
    }
  }

  std::string path_;
  Problems& problems_;
  TrafficMatrix matrix_;
  std::map<std::int64_t, TriggerText> triggers_;  ///< by id
  std::optional<std::int64_t> connections_;       ///< that the file says it has
};

}  // namespace

TrafficMatrix read_htsim_matrix(const FileReader& files, const std::string& name, Problems& problems) {
  return MatrixReader(files.path(name), problems).read(files.text(name));
}

}  // namespace athanor
