#include <algorithm>
#include <charconv>
#include <unordered_map>

#include <fmt/core.h>

#include "models/traces/goal/goal_program.hpp"
#include "models/traces/trace_options.hpp"
#include "sim/byte_source.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Words, numbers and signs of the text. Statements end with their line; comments may stand anywhere.
class Tokens {
 public:
  Tokens(std::string_view text, const std::string& file) : text_(text), file_(file) { next(); }

  std::string_view now() const { return now_; }
  bool at_line_end() const { return now_ == "\n" || now_.empty(); }
  bool ended() const { return now_.empty(); }

  std::string_view take() {
    const std::string_view token = now_;
    next();
    return token;
  }
  bool take_if(std::string_view token) {
    if (now_ != token) { return false; }
    next();
    return true;
  }
  void expect(std::string_view token) {
    if (!take_if(token)) { fail(fmt::format("'{}' is expected, and here is {}", token, shown())); }
  }
  void skip_lines() {
    while (now_ == "\n") { next(); }
  }

  /// A whole number from 0 to `most`, or -1 for `any`.
  std::uint64_t number(std::string_view what, std::uint64_t most, bool may_be_any = false) {
    const bool minus = take_if("-");
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(now_.data(), now_.data() + now_.size(), value);
    const bool whole = error == std::errc() && end == now_.data() + now_.size() && !now_.empty();
    if (whole && minus && value == 1 && may_be_any) {
      next();
      return GoalProgram::kAny;
    }
    if (!whole || minus || value > most) {
      fail(fmt::format("{} is a whole number from 0 to {}, and here is {}{}", what, most, minus ? "-" : "", shown()));
    }
    next();
    return value;
  }

  [[noreturn]] void fail(std::string message) const {
    throw ScenarioError(Problem{"syntax", std::move(message), {file_, line_, 1, ""}, "see docs/traces.md for GOAL"});
  }

 private:
  std::string shown() const {
    return now_.empty() ? "the end of the file" : now_ == "\n" ? "the end of the line" : fmt::format("'{}'", now_);
  }

  void skip_blanks_and_comments() {
    while (!text_.empty()) {
      if (text_[0] == ' ' || text_[0] == '\t' || text_[0] == '\r') {
        text_.remove_prefix(1);
      } else if (text_.starts_with("//")) {
        text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
      } else if (text_.starts_with("/*")) {
        const std::size_t end = text_.find("*/");
        if (end == std::string_view::npos) { fail("a comment does not end"); }
        lines_in_ +=
            static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        text_.remove_prefix(end + 2);
      } else {
        return;
      }
    }
  }

  void next() {
    line_ += lines_in_;
    lines_in_ = 0;
    skip_blanks_and_comments();
    std::size_t length = text_.empty() ? 0 : 1;
    if (length > 0 && is_letter(text_[0])) {
      while (length < text_.size() && (is_letter(text_[length]) || is_digit(text_[length]) || text_[length] == '_')) {
        ++length;
      }
    } else if (length > 0 && is_digit(text_[0])) {
      while (length < text_.size() && is_digit(text_[length])) { ++length; }
    }
    now_ = text_.substr(0, length);
    text_.remove_prefix(length);
    if (now_ == "\n") { lines_in_ = 1; }
  }

  std::string_view text_;
  const std::string& file_;
  std::string_view now_;
  int line_ = 1;
  int lines_in_ = 0;  ///< line ends between this token and the one before
};

class TextReader {
 public:
  TextReader(std::string_view text, const std::string& file) : tokens_(text, file), length_(text.size()) {
    program_.file = file;
  }

  GoalProgram read() {
    /// "rank 0 {}", of which each takes a line.
    constexpr std::size_t kShortestRank = 9;
    tokens_.skip_lines();
    tokens_.expect("num_ranks");
    const std::uint64_t ranks = tokens_.number("num_ranks", kMostTraceRanks);
    if (ranks > length_ / kShortestRank) {
      tokens_.fail(fmt::format("{} ranks do not fit into a file of {} bytes", ranks, length_));
    }
    program_.ranks.resize(ranks);
    if (program_.ranks.empty()) { tokens_.fail("a program has at least one rank: num_ranks 1"); }
    for (tokens_.skip_lines(); !tokens_.ended(); tokens_.skip_lines()) { read_rank(); }
    for (std::size_t rank = 0; rank < program_.ranks.size(); ++rank) {
      if (!program_.ranks[rank].there) {
        tokens_.fail(fmt::format("rank {} of {} is missing", rank, program_.ranks.size()));
      }
    }
    return std::move(program_);
  }

 private:
  struct NamedWait {
    std::string later;
    std::string earlier;
    bool begin = false;
  };

  void read_rank() {
    tokens_.expect("rank");
    const std::uint64_t rank = tokens_.number("the rank", program_.ranks.size() - 1);
    rank_ = &program_.ranks[rank];
    if (rank_->there) { tokens_.fail(fmt::format("rank {} stands twice", rank)); }
    rank_->there = true;
    labels_.clear();
    waits_.clear();
    tokens_.expect("{");
    for (tokens_.skip_lines(); !tokens_.take_if("}"); tokens_.skip_lines()) {
      if (tokens_.ended()) { tokens_.fail(fmt::format("the file ends within rank {}", rank)); }
      read_statement();
      if (tokens_.now() != "}" && !tokens_.at_line_end()) {
        tokens_.fail(fmt::format("a statement ends with its line, and here is '{}'", tokens_.now()));
      }
    }
    for (const NamedWait& wait : waits_) {
      rank_->waits.push_back({operation_of(wait.later), operation_of(wait.earlier), wait.begin});
    }
  }

  std::uint32_t operation_of(const std::string& label) {
    const auto found = labels_.find(label);
    if (found == labels_.end()) { tokens_.fail(fmt::format("this rank has no label '{}'", label)); }
    return found->second;
  }

  void read_statement() {
    const std::string_view word = tokens_.take();
    if (word == "send" || word == "recv" || word == "calc") {
      if (tokens_.now() != ":") { return read_operation(word); }
    }
    if (word.empty() || !is_letter(word[0])) { tokens_.fail(fmt::format("'{}' begins no statement", word)); }
    if (tokens_.take_if(":")) {
      const auto index = static_cast<std::uint32_t>(rank_->operations.size());
      if (!labels_.try_emplace(std::string(word), index).second) {
        tokens_.fail(fmt::format("the label '{}' stands twice", word));
      }
      return read_operation(tokens_.take());
    }
    const bool begin = tokens_.now() == "irequires";
    if (!begin && tokens_.now() != "requires") {
      tokens_.fail(fmt::format("behind '{}' stands ':', requires or irequires", word));
    }
    tokens_.take();
    waits_.push_back({std::string(word), std::string(tokens_.take()), begin});
  }

  void read_operation(std::string_view word) {
    GoalProgram::Operation operation;
    if (word == "calc") {
      operation.amount = tokens_.number("a time in ns", INT64_MAX / 1000);
    } else if (word == "send" || word == "recv") {
      operation.type = word == "send" ? GoalProgram::Type::send : GoalProgram::Type::receive;
      operation.amount = tokens_.number("a size", kMostMessage);
      tokens_.expect("b");
      tokens_.expect(word == "send" ? "to" : "from");
      operation.peer = static_cast<std::uint32_t>(tokens_.number("a rank", program_.ranks.size() - 1, word == "recv"));
      if (tokens_.take_if("tag")) {
        operation.tag = static_cast<std::uint32_t>(tokens_.number("a tag", UINT32_MAX - 1, word == "recv"));
      }
    } else {
      tokens_.fail(fmt::format("'{}' is no operation; send, recv and calc are", word));
    }
    if (tokens_.take_if("cpu")) { operation.cpu = static_cast<std::uint8_t>(tokens_.number("a CPU", UINT8_MAX)); }
    if (word != "calc" && tokens_.take_if("nic")) { tokens_.number("a NIC", UINT8_MAX); }
    rank_->operations.push_back(operation);
  }

  Tokens tokens_;
  std::size_t length_;  ///< of the text
  GoalProgram program_;
  GoalProgram::Rank* rank_ = nullptr;
  std::unordered_map<std::string, std::uint32_t> labels_;
  std::vector<NamedWait> waits_;
};

}  // namespace

GoalProgram read_goal_text(const std::string& file, Bytes limit) {
  ByteSource source(file, limit);
  const std::string text = source.rest();
  return TextReader(text, file).read();
}

}  // namespace athanor
