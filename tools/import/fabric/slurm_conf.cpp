#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "tools/import/fabric/slurm_tree.hpp"
#include "tools/import/imported_rows.hpp"

namespace athanor {

namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

/// Collects switches and blocks, line by line.
class ConfReader {
 public:
  ConfReader(const AssumedLinks& links, FabricDraft& draft) : links_(links), draft_(draft) {}

  void read(std::string_view text) {
    for_each_line(text, [&](int number, std::string_view line) { take(number, line.substr(0, line.find('#'))); });
    if (!joined_.empty()) { read_line(first_line_, joined_); }
    if (!draft_.ok()) { return; }
    if (!switches_.empty() && !blocks_.empty()) {
      draft_.problem(blocks_.front().line, "mixed", "a file has either switches or blocks",
                     "take out the lines of the plugin that is not used");
    } else if (!blocks_.empty()) {
      add_slurm_blocks(blocks_, links_, draft_);
    } else {
      add_slurm_tree(switches_, links_, draft_);
    }
  }

 private:
  /// A line that ends in '\' goes on in the next.
  void take(int number, std::string_view line) {
    const std::size_t end = line.find_last_not_of(" \t");
    line = line.substr(0, end == std::string_view::npos ? 0 : end + 1);
    if (joined_.empty()) { first_line_ = number; }
    const bool goes_on = line.ends_with('\\');
    if (goes_on) { line.remove_suffix(1); }
    joined_ += line;
    if (goes_on) { return; }
    read_line(first_line_, joined_);
    joined_.clear();
  }

  void read_line(int number, std::string_view line) {
    const std::vector<std::string_view> words = words_of_line(line);
    if (words.empty()) { return; }
    SlurmSwitch found;
    found.line = number;
    bool block = false;
    for (const std::string_view word : words) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) {
        draft_.problem(number, "not-slurm", fmt::format("'{}' is no key with a value", word),
                       "lines are such as SwitchName=s0 Nodes=tux[0-3]");
        return;
      }
      const std::string key = lower_case(word.substr(0, equals));
      block = block || key == "blockname" || key == "blocksizes";
      if (!set(found, key, word.substr(equals + 1), number)) { return; }
    }
    if (found.name.empty() && block) { return; }
    if (found.name.empty()) {
      draft_.problem(number, "missing-name", "this line has no SwitchName or BlockName", "begin it with SwitchName=");
      return;
    }
    (block ? blocks_ : switches_).push_back(std::move(found));
  }

  bool set(SlurmSwitch& found, const std::string& key, std::string_view value, int number) {
    if (key == "switchname" || key == "blockname") {
      found.name = value;
    } else if (key == "nodes") {
      found.nodes = value;
    } else if (key == "switches") {
      found.switches = value;
    } else if (key == "linkspeed") {
      note_once("LinkSpeed= has no unit in Slurm, which does not use it; --link-rate counts");
    } else if (key == "blocksizes") {
      note_once("BlockSizes= plan jobs and are no switches; they are left out");
    } else {
      draft_.problem(number, "unknown-key", fmt::format("there is no key '{}' in a topology.conf", key),
                     "it has SwitchName, Nodes, Switches, LinkSpeed, BlockName and BlockSizes");
      return false;
    }
    return true;
  }

  void note_once(const std::string& text) {
    const auto& notes = draft_.notes();
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) { draft_.note(text); }
  }

  const AssumedLinks& links_;
  FabricDraft& draft_;
  std::vector<SlurmSwitch> switches_;
  std::vector<SlurmSwitch> blocks_;
  std::string joined_;
  int first_line_ = 1;
};

}  // namespace

void import_slurm_conf(std::string_view text, const AssumedLinks& links, FabricDraft& draft) {
  ConfReader(links, draft).read(text);
}

}  // namespace athanor
