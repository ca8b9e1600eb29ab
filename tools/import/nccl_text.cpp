#include "tools/import/nccl_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "models/execution/run.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Words = std::vector<std::string_view>;

struct Program {
  std::string_view name;
  CollectiveKind kind;
};
/// Names that end in others stand before them.
constexpr std::array<Program, 9> kPrograms{{{"all_reduce_perf", CollectiveKind::all_reduce},
                                            {"all_gather_perf", CollectiveKind::all_gather},
                                            {"reduce_scatter_perf", CollectiveKind::reduce_scatter},
                                            {"alltoall_perf", CollectiveKind::all_to_all},
                                            {"broadcast_perf", CollectiveKind::broadcast},
                                            {"sendrecv_perf", CollectiveKind::send_receive},
                                            {"gather_perf", CollectiveKind::gather},
                                            {"scatter_perf", CollectiveKind::scatter},
                                            {"reduce_perf", CollectiveKind::reduce}}};

/// What a column of a table holds.
enum class Column : std::uint8_t { size, count, type, redop, root, time, algbw, busbw, wrong, other };

std::optional<Column> column(std::string_view word) {
  static const std::map<std::string_view, Column> kNames{
      {"size", Column::size},    {"count", Column::count}, {"type", Column::type},   {"redop", Column::redop},
      {"root", Column::root},    {"time", Column::time},   {"algbw", Column::algbw}, {"busbw", Column::busbw},
      {"#wrong", Column::wrong}, {"wrong", Column::wrong}, {"error", Column::wrong}};
  const auto found = kNames.find(word);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

/// Where a place's values stand in a row.
struct PlaceColumns {
  std::size_t time = 0;
  std::size_t algbw = 0;
  std::size_t busbw = 0;
  std::optional<std::size_t> wrong;
};

/// The line that names the columns, understood.
struct Header {
  std::vector<Column> columns;
  std::vector<PlaceColumns> places;  ///< out of place, in place

  bool has(Column which) const { return std::find(columns.begin(), columns.end(), which) != columns.end(); }
};

std::optional<Header> header_of(const Words& words) {
  Header header;
  for (const std::string_view word : words) {
    const Column which = column(word).value_or(Column::other);
    const std::size_t at = header.columns.size();
    header.columns.push_back(which);
    if (which == Column::time) { header.places.push_back({.time = at, .algbw = 0, .busbw = 0, .wrong = {}}); }
    if (header.places.empty()) { continue; }
    PlaceColumns& place = header.places.back();
    if (which == Column::algbw) { place.algbw = at; }
    if (which == Column::busbw) { place.busbw = at; }
    if (which == Column::wrong) { place.wrong = at; }
  }
  const bool whole = header.columns.size() > 4 && header.columns[0] == Column::size && header.places.size() <= 2 &&
                     !header.places.empty() && header.places[0].algbw > 0 && header.places[0].busbw > 0;
  return whole ? std::optional(header) : std::nullopt;
}

/// What a row says, before it is known which collective it is of.
struct TextRow {
  int line = 0;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  std::string type;
  std::string operation;
  bool rooted = false;
  struct Place {
    double time_us = 0;
    double algbw = 0;
    double busbw = 0;
    std::uint64_t wrong = 0;
  };
  std::vector<Place> places;
};

/// Tables of one log, one after the other.
class NcclText {
 public:
  NcclText(std::string file, ImportHints hints, Measurement& measurement, Problems& problems)
      : hints_(std::move(hints)), measurement_(measurement), rows_(std::move(file), measurement, problems) {}

  void read(std::string_view text) {
    for_each_line(text, [&](int number, std::string_view line) { see(number, line); });
    end_table();
    if (tables_ == 0) {
      rows_.problem(1, "not-a-table", "there is no table of nccl-tests here: no line \"# size count type ...\"",
                    "give the whole output of a test, or name another --format");
    }
    add_facts();
  }

 private:
  void see(int number, std::string_view line) {
    if (line.find("_perf") != std::string_view::npos) { see_program(line); }
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) { return; }
    if (line[first] == '#') {
      see_comment(number, line.substr(first + 1));
    } else if (line[first] >= '0' && line[first] <= '9' && header_) {
      see_row(number, words_of_line(line));
    } else if (line.find("NCCL") != std::string_view::npos) {
      see_setting(line);
    }
  }

  void see_program(std::string_view line) {
    if (const auto kind = collective_of_program(line)) {
      end_table();
      program_ = kind;
    }
  }

  /// NCCL_ALGO=Ring on a command line, or "NCCL version 2.18.3" of NCCL_DEBUG.
  void see_setting(std::string_view line) {
    const auto value_after = [&](std::string_view key) -> std::string {
      const std::size_t at = line.find(key);
      if (at == std::string_view::npos) { return ""; }
      const std::string_view rest = line.substr(at + key.size());
      return std::string(rest.substr(0, rest.find_first_of(" \t'\"")));
    };
    const auto keep = [](std::string& target, const std::string& value) {
      if (!value.empty() && target.empty()) { target = value; }
    };
    keep(algorithm_, value_after("NCCL_ALGO="));
    keep(protocol_, value_after("NCCL_PROTO="));
    keep(library_, value_after("NCCL version "));
  }

  void see_comment(int number, std::string_view text) {
    const Words words = words_of_line(text);
    if (words.empty()) { return; }
    if (words[0] == "nThread" || words[0] == "nThreads" || words[0] == "Using") {
      if (words[0] != "Using" || header_) { begin_run(); }
    } else if (words[0] == "Rank" && words.size() > 6) {
      see_device(text, words);
    } else if (words[0] == "Avg" || words[0] == "Out") {
      end_table();
    } else if (words[0] == "nccl-tests" || words[0] == "rccl-tests" || words[0] == "rccl-tests:") {
      see_versions(words);
    } else if (words[0] == "size") {
      end_table();
      header_ = header_of(words);
      ++tables_;
      if (!header_) {
        rows_.problem(number, "not-a-table", "the columns of this table are not those of nccl-tests",
                      "there should be size, count, type, time, algbw and busbw");
      }
    } else if (words[0].starts_with('(')) {
      check_units(number, words);
    }
  }

  /// "(B) (elements) (us) (GB/s) (GB/s) ..."
  void check_units(int number, const Words& words) {
    static constexpr std::array<std::string_view, 4> kKnown{"(B)", "(elements)", "(us)", "(GB/s)"};
    if (!header_) { return; }
    for (const std::string_view word : words) {
      if (!word.starts_with('(') || std::find(kKnown.begin(), kKnown.end(), word) != kKnown.end()) { continue; }
      rows_.problem(number, "unit", fmt::format("a column is in {}, where nccl-tests has B, us or GB/s", word),
                    "convert the table first; other units are not guessed");
      return;
    }
  }

  void begin_run() {
    end_table();
    header_.reset();
    devices_.clear();
  }

  /// "Rank 0 Group 0 Pid 12 on host device 0 [0x07] NVIDIA A100": the host only counts.
  void see_device(std::string_view text, const Words& words) {
    const auto on = std::find(words.begin(), words.end(), "on");
    const auto rank = whole_number_of(words[1]);
    const std::size_t bracket = text.find(']');
    if (!rank || on == words.end() || on + 1 == words.end() || bracket == std::string_view::npos) { return; }
    const Words model = words_of_line(text.substr(bracket + 1));
    devices_[*rank] = {std::string(*(on + 1)), fmt::format("{}", joined(model, " "))};
  }

  void see_versions(const Words& words) {
    for (const std::string_view word : words) {
      if (word.starts_with("nccl-library=") && library_.empty()) { library_ = word.substr(word.find('=') + 1); }
    }
    if (words.size() > 2 && words[1] == "version") { tests_version_ = words[2]; }
  }

  void see_row(int number, const Words& words) {
    TextRow row;
    row.line = number;
    const auto bytes = whole_number_of(words[0]);
    if (!bytes) { return; }
    const bool typed = words.size() > 2 && whole_number_of(words[1]) && words[2][0] >= 'a' && words[2][0] <= 'z';
    const bool cut_off = words.size() <= 2 && (words.size() < 2 || whole_number_of(words[1]));
    if (!typed && !cut_off) { return; }
    if (cut_off) { return truncated(number, words.size()); }
    row.bytes = *bytes;
    row.count = *whole_number_of(words[1]);
    row.type = words[2];
    if (read_values(row, words)) { table_.push_back(std::move(row)); }
  }

  void truncated(int number, std::size_t words) {
    rows_.problem(number, "truncated-row",
                  fmt::format("this row has {} values where the table has {} columns", words, header_->columns.size()),
                  "complete the row or remove it");
  }

  /// Versions that print nothing for an operation that there is not have one word less.
  Words with_operation(Words words) const {
    const auto at = std::find(header_->columns.begin(), header_->columns.end(), Column::redop);
    const auto place = at - header_->columns.begin();
    const bool lacks = at != header_->columns.end() && words.size() + 1 == header_->columns.size() &&
                       words.size() > static_cast<std::size_t>(place) &&
                       number_of(words[static_cast<std::size_t>(place)]);
    if (lacks) { words.insert(words.begin() + place, "none"); }
    return words;
  }

  bool read_values(TextRow& row, const Words& given) {
    const Words words = with_operation(given);
    if (words.size() < header_->columns.size()) {
      truncated(row.line, words.size());
      return false;
    }
    for (std::size_t i = 0; i < header_->columns.size(); ++i) {
      if (header_->columns[i] == Column::redop) { row.operation = words[i]; }
      if (header_->columns[i] == Column::root) { row.rooted = whole_number_of(words[i]).value_or(-1) >= 0; }
    }
    for (const PlaceColumns& columns : header_->places) {
      const auto time = number_of(words[columns.time]);
      const auto algbw = number_of(words[columns.algbw]);
      const auto busbw = number_of(words[columns.busbw]);
      if (!time && words[columns.time] == "N/A") { continue; }
      if (!time || !algbw || !busbw) {
        rows_.problem(row.line, "not-a-number",
                      fmt::format("'{}' is no time or bandwidth", words[!time    ? columns.time
                                                                        : !algbw ? columns.algbw
                                                                                 : columns.busbw]));
        return false;
      }
      row.places.push_back({*time, *algbw, *busbw, wrong_of(columns, words)});
    }
    return true;
  }

  /// How many values are wrong; a version that prints the greatest error instead is taken at its word up to 1 %.
  std::uint64_t wrong_of(const PlaceColumns& columns, const Words& words) const {
    if (!columns.wrong) { return 0; }
    if (const auto count = whole_number_of(words[*columns.wrong])) {
      return *count < 0 ? 0 : static_cast<std::uint64_t>(*count);
    }
    const auto error = number_of(words[*columns.wrong]);
    return error && std::abs(*error) > 0.01 ? 1 : 0;
  }

  std::uint32_t ranks_of_table() const { return hints_.ranks.value_or(static_cast<std::uint32_t>(devices_.size())); }

  /// The rows so far, now that all is known of them.
  void end_table() {
    if (table_.empty()) { return; }
    const int line = table_.front().line;
    const std::uint32_t ranks = ranks_of_table();
    const auto kind = hints_.collective ? hints_.collective : program_ ? program_ : guessed(ranks);
    rows_.begin_table();
    if (ranks == 0) {
      rows_.problem(line, "unknown-ranks", "the text lists no devices (\"# Rank 0 ... on ... device\") for this table",
                    "add --ranks N");
    } else if (!kind) {
      rows_.problem(line, "unknown-collective", "the text does not name the test, and its columns fit several",
                    "add --collective NAME");
    } else if (rows_.takes(line, *kind)) {
      for (const TextRow& row : table_) { add(row, *kind, ranks); }
    }
    note_hardware();
    table_.clear();
  }

  void add(const TextRow& row, CollectiveKind kind, std::uint32_t ranks) {
    for (std::size_t place = 0; place < row.places.size(); ++place) {
      const TextRow::Place& values = row.places[place];
      rows_.add(row.line, {.bytes = Bytes{row.bytes},
                           .time_us = values.time_us,
                           .ranks = ranks,
                           .collective = kind,
                           .in_place = place == 1,
                           .type = imported_type(row.type),
                           .reduction = reduces(kind) && row.operation != "sum" ? row.operation : "",
                           .wrong = values.wrong,
                           .busbw_gbps = values.busbw});
    }
  }

  /// What redop, root, count and the ratio of the bandwidths leave: nothing where they leave several.
  std::optional<CollectiveKind> guessed(std::uint32_t ranks) const {
    const TextRow& row = *std::max_element(table_.begin(), table_.end(), [](const TextRow& a, const TextRow& b) {
      return (a.places.empty() ? 0 : a.places[0].algbw) < (b.places.empty() ? 0 : b.places[0].algbw);
    });
    if (row.places.empty() || row.places[0].algbw <= 0 || ranks < 2) { return std::nullopt; }
    const double ratio = row.places[0].busbw / row.places[0].algbw;
    const bool reduced = !row.operation.empty() && row.operation != "none";
    std::optional<CollectiveKind> found;
    for (const Program& program : kPrograms) {
      const double factor = bus_factor(program.kind, ranks);
      const bool rooted = has_root(program.kind) && program.kind != CollectiveKind::send_receive;
      const bool fits = reduces(program.kind) == reduced && rooted == row.rooted && std::abs(ratio / factor - 1) < 0.01;
      if (!fits) { continue; }
      if (found) { return std::nullopt; }
      found = program.kind;
    }
    return found;
  }

  void note_hardware() {
    if (devices_.empty() || !gpu_.empty()) { return; }
    std::map<std::string, int> hosts;
    for (const auto& [rank, device] : devices_) { ++hosts[device.first]; }
    gpu_ = devices_.begin()->second.second;
    nodes_ = hosts.size();
  }

  void add_facts() {
    const auto known = [](const std::string& text) { return text.empty() ? std::string("unknown") : text; };
    const std::int64_t nodes =
        hints_.nodes ? std::int64_t{*hints_.nodes} : std::max<std::int64_t>(1, static_cast<std::int64_t>(nodes_));
    const std::int64_t ranks = measurement_.rows.empty() ? 1 : measurement_.rows.front().ranks;
    measurement_.hardware_facts = {{"gpu", hints_.hardware.empty() ? known(gpu_) : hints_.hardware},
                                   {"nodes", nodes},
                                   {"gpus_per_node", std::max<std::int64_t>(1, ranks / nodes)}};
    measurement_.software_facts = {{"nccl", known(library_)}, {"proto", protocol_.empty() ? "auto" : protocol_}};
    if (!tests_version_.empty()) { measurement_.software_facts.emplace_back("nccl_tests", tests_version_); }
    for (Measurement::Row& row : measurement_.rows) { row.algorithm = algorithm_.empty() ? "auto" : algorithm_; }
  }

  ImportHints hints_;
  Measurement& measurement_;
  ImportedRows rows_;
  std::optional<CollectiveKind> program_;
  std::optional<Header> header_;
  std::vector<TextRow> table_;
  std::map<std::int64_t, std::pair<std::string, std::string>> devices_;  ///< by rank: host and model
  std::string gpu_;
  std::size_t nodes_ = 0;
  std::string algorithm_;
  std::string protocol_;
  std::string library_;
  std::string tests_version_;
  int tables_ = 0;
};

}  // namespace

std::optional<CollectiveKind> collective_of_program(std::string_view program) {
  for (const Program& known : kPrograms) {
    if (program.find(known.name) != std::string_view::npos) { return known.kind; }
  }
  return std::nullopt;
}

void import_nccl_text(std::string_view text, const std::string& file, const ImportHints& hints,
                      Measurement& measurement, Problems& problems) {
  NcclText(file, hints, measurement, problems).read(text);
}

}  // namespace athanor
