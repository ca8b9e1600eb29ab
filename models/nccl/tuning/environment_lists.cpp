#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/nccl/tuning/environment_reader.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

using Effect = NcclNote::Effect;

/// From this version on lists may be given for each function, and what cannot be read is an error.
constexpr NcclVersion kStrictLists{2, 24, 0};

/// The parts of `text` between any of `separators`; empty ones do not count, as with strtok.
std::vector<std::string_view> tokens_of(std::string_view text, char separator) {
  std::vector<std::string_view> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) { tokens.push_back(text.substr(at, end - at)); }
    at = end + 1;
  }
  return tokens;
}

/// The words that a list may hold, and what is made of them.
struct Words {
  std::function<std::optional<std::size_t>(std::string_view)> find;
  std::vector<std::string> all;
  std::string_view what;  ///< "algorithm", "protocol"
  NcclEnable left;        ///< what `^` makes of the words that it does not name

  std::string hint(std::string_view wrong) const {
    const std::string near = nearest(std::string(wrong), all);
    return near.empty() ? fmt::format("{}s are {}", what, fmt::join(all, ", ")) : fmt::format("did you mean {}?", near);
  }
};

template <std::size_t N>
using Row = std::array<NcclEnable, N>;

/// `^a,b` or `a,b` into one function's row. The first word that is none, "" if all are. What `^` leaves is on: for
/// protocols that makes LL128 asked for; for algorithms it says as little as nothing.
template <std::size_t N>
std::string_view read_row(std::string_view list, const Words& words, Row<N>& row) {
  const bool excludes = list.starts_with('^');
  if (excludes) { list.remove_prefix(1); }
  row.fill(excludes ? words.left : NcclEnable::off);
  std::string_view wrong;
  for (const std::string_view word : tokens_of(list, ',')) {
    if (const auto index = words.find(word)) {
      row.at(*index) = excludes ? NcclEnable::off : NcclEnable::on;
    } else if (wrong.empty()) {
      wrong = word;
    }
  }
  return wrong;
}

std::string refusal(const Words& words, std::string_view wrong) {
  return fmt::format("'{}' is no {}; NCCL warns \"Unrecognized element token\" and ends with ncclInvalidUsage; {}",
                     wrong, words.what, words.hint(wrong));
}

/// One entry `function:list` or, first of all, `list`. What NCCL refuses it for, "" if it does not.
template <std::size_t N>
std::string read_entry(std::string_view entry, bool first, const Words& words,
                       std::array<Row<N>, kNcclFunctions>& rows) {
  const std::vector<std::string_view> halves = tokens_of(entry, ':');
  if (halves.empty()) { return "nothing stands beside a colon; NCCL does not check for that and crashes"; }
  if (halves.size() == 1 && !first) {
    return fmt::format(
        "all entries except the first must begin with a function and a colon, and '{}' does not; NCCL "
        "ends with ncclInvalidUsage",
        entry);
  }
  const auto function = halves.size() > 1 ? nccl_function(halves.front()) : std::nullopt;
  if (halves.size() > 1 && !function) {
    return fmt::format(
        "'{}' is no function; NCCL warns \"Unrecognized prefix token\" and ends with ncclInvalidUsage; "
        "functions are AllReduce, AllGather, ReduceScatter, Broadcast and Reduce",
        halves.front());
  }
  for (std::size_t i = 0; i < kNcclFunctions; ++i) {
    if (function && i != static_cast<std::size_t>(*function)) { continue; }
    const std::string_view wrong = read_row(halves[halves.size() > 1 ? 1 : 0], words, rows.at(i));
    if (!wrong.empty()) { return refusal(words, wrong); }
  }
  return "";
}

template <std::size_t N>
void read_strict(const NcclVariable& variable, const Words& words, std::array<Row<N>, kNcclFunctions>& rows) {
  bool first = true;
  for (const std::string_view entry : tokens_of(variable.text, ';')) {
    // What NCCL takes for the first entry is the one that the text begins with.
    const std::string why = read_entry(entry, first && !variable.text.starts_with(';'), words, rows);
    if (!why.empty()) { return variable.note(Effect::refused, why); }
    first = false;
  }
}

/// Before 2.24: one list for all functions, in which unknown words say nothing.
template <std::size_t N>
void read_lenient(const NcclVariable& variable, const Words& words, std::array<Row<N>, kNcclFunctions>& rows) {
  Row<N> row{};
  const std::string_view wrong = read_row(variable.text, words, row);
  rows.fill(row);
  if (!wrong.empty()) {
    variable.note(Effect::ignored, fmt::format("'{}' is no {}, and NCCL before 2.24 passes over it silently; {}", wrong,
                                               words.what, words.hint(wrong)));
  } else if (variable.text.empty()) {
    variable.note(Effect::changed,
                  fmt::format("is set but empty, which before 2.24 excludes every {}; unset it", words.what));
  }
}

template <std::size_t N>
void read_lists(const NcclVariable& variable, NcclVersion version, const Words& words,
                std::array<Row<N>, kNcclFunctions>& rows) {
  if (version < kStrictLists) { return read_lenient(variable, words, rows); }
  read_strict(variable, words, rows);
}

template <class Value, std::size_t N>
Words words_of(std::string_view what, std::optional<Value> (*find)(std::string_view), NcclEnable left) {
  Words words{[find](std::string_view word) -> std::optional<std::size_t> {
                const auto found = find(word);
                return found ? std::optional(static_cast<std::size_t>(*found)) : std::nullopt;
              },
              {},
              what,
              left};
  for (std::size_t i = 0; i < N; ++i) { words.all.emplace_back(name(static_cast<Value>(i))); }
  return words;
}

}  // namespace

void read_algorithms(const NcclVariable& variable, NcclVersion version) {
  read_lists(variable, version,
             words_of<NcclAlgorithm, kNcclAlgorithms>("algorithm", nccl_algorithm, NcclEnable::unset),
             variable.environment.algorithms);
}

void read_protocols(const NcclVariable& variable, NcclVersion version) {
  read_lists(variable, version, words_of<NcclProtocol, kNcclProtocols>("protocol", nccl_protocol, NcclEnable::on),
             variable.environment.protocols);
}

}  // namespace athanor
