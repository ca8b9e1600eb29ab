#include "tools/import/fabric/matrix.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "tools/import/imported_rows.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kMostNvlinks = 1024;
constexpr std::size_t kMostDevices = 512;

constexpr std::array<std::pair<std::string_view, Nearness>, 7> kWords{{{"X", Nearness::self},
                                                                       {"PIX", Nearness::pix},
                                                                       {"PXB", Nearness::pxb},
                                                                       {"PHB", Nearness::phb},
                                                                       {"NODE", Nearness::node},
                                                                       {"SYS", Nearness::sys},
                                                                       {"SOC", Nearness::sys}}};

/// Without the codes that underline the header on a terminal.
std::string without_escapes(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      text += line[i];
      continue;
    }
    const std::size_t end = line.find_first_of("mK", i);
    i = end == std::string_view::npos ? line.size() : end;
  }
  return text;
}

class MatrixReader {
 public:
  explicit MatrixReader(FabricDraft& draft) : draft_(draft) {}

  TopologyMatrix read(std::string_view text) {
    for_each_line(text, [&](int number, std::string_view line) { take(number, without_escapes(line)); });
    if (labels_.empty()) {
      draft_.problem(1, "not-a-matrix", "there is no header with GPU0",
                     "give the output of `nvidia-smi topo -m`, with its first line");
    } else if (draft_.ok()) {
      check();
    }
    return std::move(matrix_);
  }

 private:
  void take(int number, const std::string& line) {
    const std::vector<std::string_view> words = words_of_line(line);
    if (words.empty()) { return; }
    if (labels_.empty()) {
      if (words[0] == "GPU0") { read_header(number, words); }
    } else if (rows_end_) {
      read_legend(words);
    } else if (std::find(labels_.begin(), labels_.end(), words[0]) != labels_.end()) {
      read_row(number, words);
    } else {
      rows_end_ = true;
      read_legend(words);
    }
  }

  void read_header(int number, const std::vector<std::string_view>& words) {
    for (const std::string_view word : words) {
      if (word == "CPU" || word == "NUMA") { break; }
      labels_.emplace_back(word);
    }
    matrix_.line = number;
    has_numa_ = std::find(words.begin(), words.end(), "NUMA") != words.end();
    if (labels_.size() > kMostDevices) {
      draft_.problem(number, "too-large", fmt::format("a machine of {} devices", labels_.size()),
                     "one machine at a time");
    }
  }

  void read_row(int number, const std::vector<std::string_view>& words) {
    TopologyMatrix::Device device;
    device.label = words[0];
    device.gpu = words[0].starts_with("GPU");
    device.line = number;
    if (words.size() < labels_.size() + 1) {
      draft_.problem(number, "cut-off",
                     fmt::format("the row of {} has {} relations where the header has {}", words[0], words.size() - 1,
                                 labels_.size()),
                     "give the whole output");
      return;
    }
    for (std::size_t i = 1; i <= labels_.size(); ++i) { device.row.push_back(cell(number, words[i])); }
    read_affinity({words.begin() + static_cast<std::ptrdiff_t>(labels_.size()) + 1, words.end()}, device);
    const auto& known = matrix_.devices;
    if (std::any_of(known.begin(), known.end(), [&](const auto& each) { return each.label == device.label; })) {
      draft_.problem(number, "duplicate-device", fmt::format("{} has a second row", device.label), "take one out");
      return;
    }
    matrix_.devices.push_back(std::move(device));
  }

  /// CPUs, then the NUMA node.
  void read_affinity(const std::vector<std::string_view>& words, TopologyMatrix::Device& device) const {
    if (words.empty()) { return; }
    device.affinity = words[has_numa_ && words.size() > 1 ? 1 : 0];
  }

  TopologyMatrix::Cell cell(int number, std::string_view word) {
    for (const auto& [known, nearness] : kWords) {
      if (word == known) { return {nearness, 0}; }
    }
    const auto count = word.starts_with("NV") ? whole_number_of(word.substr(2)) : std::nullopt;
    if (count && *count > 0 && *count <= kMostNvlinks) {
      return {Nearness::nvlink, static_cast<std::uint32_t>(*count)};
    }
    draft_.problem(number, "unknown-relation", fmt::format("'{}' is no relation that is known", word),
                   "NV and a number, PIX, PXB, PHB, NODE, SYS and X are");
    return {};
  }

  /// "NIC0: mlx5_0".
  void read_legend(const std::vector<std::string_view>& words) {
    if (words.size() != 2 || !words[0].ends_with(':')) { return; }
    for (TopologyMatrix::Device& device : matrix_.devices) {
      if (device.label == words[0].substr(0, words[0].size() - 1)) { device.name = words[1]; }
    }
  }

  void check() {
    auto& devices = matrix_.devices;
    for (const std::string& label : labels_) {
      const auto same = [&](const auto& device) { return device.label == label; };
      if (std::any_of(devices.begin(), devices.end(), same)) { continue; }
      draft_.problem(matrix_.line, "cut-off", fmt::format("{} has a column and no row", label),
                     "give the whole output");
    }
    if (!draft_.ok()) { return; }
    std::stable_sort(devices.begin(), devices.end(), [&](const auto& a, const auto& b) {
      return std::find(labels_.begin(), labels_.end(), a.label) < std::find(labels_.begin(), labels_.end(), b.label);
    });
    for (std::size_t i = 0; i < devices.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) { check_pair(i, j); }
    }
  }

  void check_pair(std::size_t i, std::size_t j) {
    const TopologyMatrix::Device& a = matrix_.devices[i];
    const TopologyMatrix::Device& b = matrix_.devices[j];
    const auto [nearness, nvlinks] = a.row[j];
    const TopologyMatrix::Cell& back = b.row[i];
    if ((nearness == Nearness::self) != (i == j)) {
      draft_.problem(a.line, "contradiction", fmt::format("X stands between {} and {}", a.label, b.label),
                     "X is the diagonal and nothing else is");
    } else if (nearness != back.nearness || nvlinks != back.nvlinks) {
      draft_.problem(a.line, "ends-differ",
                     fmt::format("{} and {} are joined by {} here and by {} on line {}", a.label, b.label,
                                 name(nearness), name(back.nearness), b.line),
                     "the matrix is symmetric; give it as it was printed");
    }
  }

  FabricDraft& draft_;
  TopologyMatrix matrix_;
  std::vector<std::string> labels_;
  bool has_numa_ = false;
  bool rows_end_ = false;
};

}  // namespace

std::string_view name(Nearness nearness) {
  switch (nearness) {
    case Nearness::self: return "X";
    case Nearness::pix: return "PIX";
    case Nearness::pxb: return "PXB";
    case Nearness::phb: return "PHB";
    case Nearness::node: return "NODE";
    case Nearness::sys: return "SYS";
    case Nearness::nvlink: return "NVLinks";
  }
  return "";
}

TopologyMatrix read_matrix(std::string_view text, FabricDraft& draft) { return MatrixReader(draft).read(text); }

}  // namespace athanor
