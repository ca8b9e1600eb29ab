#include "models/layouts/operator_rules.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace athanor {

std::string_view name(OperatorName name) {
  switch (name) {
    case OperatorName::einsum: return "einsum";
    case OperatorName::element_wise: return "element_wise";
    case OperatorName::add: return "add";
    case OperatorName::softmax: return "softmax";
    case OperatorName::layer_norm: return "layer_norm";
    case OperatorName::embedding: return "embedding";
    case OperatorName::reduce: return "reduce";
    case OperatorName::transpose: return "transpose";
    case OperatorName::reshape: return "reshape";
  }
  return "";
}

namespace {

[[noreturn]] void refuse(const char* key, const char* code, const std::string& message, const std::string& hint) {
  throw LayoutModelError(key, code, message, hint);
}

std::string shape_text(const TensorShape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

class OperatorRule {
 public:
  OperatorRule(const OperatorText& text, const std::vector<TensorShape>& inputs) : text_(text), inputs_(inputs) {
    result_.name = text.output;
    result_.input_shapes = inputs;
  }

  LayoutOperator make() {
    switch (text_.kind) {
      case OperatorName::einsum: einsum(); break;
      case OperatorName::add: result_.linear = true; [[fallthrough]];
      case OperatorName::element_wise: broadcast(); break;
      case OperatorName::softmax:
        expect_inputs(1, 1);
        same_shape_but_whole();
        break;
      case OperatorName::layer_norm: layer_norm(); break;
      case OperatorName::embedding: embedding(); break;
      case OperatorName::reduce: reduce(); break;
      case OperatorName::transpose: transpose(); break;
      case OperatorName::reshape: reshape(); break;
    }
    return std::move(result_);
  }

 private:
  void expect_inputs(std::size_t least, std::size_t most) const {
    if (inputs_.size() >= least && inputs_.size() <= most) { return; }
    const std::string wanted = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
    refuse("inputs", "wrong-inputs",
           fmt::format("{} has {} input{}", name(text_.kind), inputs_.size(), inputs_.size() == 1 ? "" : "s"),
           fmt::format("name {}", wanted));
  }

  std::int32_t add_label(std::int64_t size, bool whole = false) {
    result_.labels.push_back({size, whole});
    return static_cast<std::int32_t>(result_.labels.size() - 1);
  }

  std::vector<std::int32_t> add_labels(const TensorShape& shape) {
    std::vector<std::int32_t> labels;
    for (const std::int64_t size : shape) { labels.push_back(add_label(size)); }
    return labels;
  }

  void give_out(std::vector<std::int32_t> labels, TensorShape shape) {
    result_.output = std::move(labels);
    result_.output_shape = std::move(shape);
  }

  void check_dimensions(std::size_t rank) const {
    for (const std::uint32_t each : text_.dimensions) {
      if (each < rank) { continue; }
      refuse("dimensions", "no-such-dimension",
             fmt::format("there is no dimension {}: {} has shape {}", each, text_.inputs[0], shape_text(inputs_[0])),
             fmt::format("they are counted from 0 to {}", rank - 1));
    }
  }

  /// The last where none is named.
  std::vector<std::uint32_t> whole_dimensions() const {
    const std::size_t rank = inputs_[0].size();
    if (rank == 0) { refuse("inputs", "wrong-shape", "a number has no dimension", "name a tensor with dimensions"); }
    check_dimensions(rank);
    return text_.dimensions.empty() ? std::vector{static_cast<std::uint32_t>(rank - 1)} : text_.dimensions;
  }

  void same_shape_but_whole() {
    const std::vector<std::int32_t> labels = add_labels(inputs_[0]);
    for (const std::uint32_t each : whole_dimensions()) { result_.labels[each].whole = true; }
    result_.inputs.push_back(labels);
    give_out(labels, inputs_[0]);
  }

  void layer_norm() {
    expect_inputs(1, 3);
    same_shape_but_whole();
    for (std::size_t i = 1; i < inputs_.size(); ++i) { broadcast_input(i); }
  }

  /// Aligned at the last dimension, as NumPy does.
  void broadcast_input(std::size_t input) {
    const TensorShape& shape = inputs_[input];
    std::vector<std::int32_t> labels;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::size_t behind = shape.size() - i;
      const bool fits = behind <= result_.output_shape.size();
      const std::int64_t size = fits ? result_.output_shape[result_.output_shape.size() - behind] : 0;
      if (!fits || (shape[i] != size && shape[i] != 1)) {
        refuse("inputs", "wrong-shape",
               fmt::format("{} of shape {} cannot be broadcast to {}", text_.inputs[input], shape_text(shape),
                           shape_text(result_.output_shape)),
               "make dimensions equal, or 1, from the last one on");
      }
      const bool is_broadcast = shape[i] == 1 && size != 1;
      labels.push_back(is_broadcast ? kNoLabel : result_.output[result_.output.size() - behind]);
    }
    result_.inputs.push_back(std::move(labels));
  }

  void broadcast() {
    expect_inputs(1, 16);
    TensorShape shape;
    for (const TensorShape& each : inputs_) {
      if (each.size() > shape.size()) { shape.insert(shape.begin(), each.size() - shape.size(), 1); }
      for (std::size_t i = 0; i < each.size(); ++i) {
        std::int64_t& size = shape[shape.size() - each.size() + i];
        size = std::max(size, each[i]);
      }
    }
    give_out(add_labels(shape), shape);
    for (std::size_t i = 0; i < inputs_.size(); ++i) { broadcast_input(i); }
  }

  void embedding() {
    expect_inputs(2, 2);
    if (inputs_[1].size() != 2) {
      refuse("inputs", "wrong-shape", fmt::format("the table {} has shape {}", text_.inputs[1], shape_text(inputs_[1])),
             "a table has two dimensions: rows and what each holds");
    }
    std::vector<std::int32_t> labels = add_labels(inputs_[0]);
    result_.inputs.push_back(labels);
    result_.inputs.push_back(add_labels(inputs_[1]));
    labels.push_back(result_.inputs[1][1]);
    TensorShape shape = inputs_[0];
    shape.push_back(inputs_[1][1]);
    result_.gathers = true;
    give_out(std::move(labels), std::move(shape));
  }

  void reduce() {
    expect_inputs(1, 1);
    const std::vector<std::int32_t> labels = add_labels(inputs_[0]);
    const std::vector<std::uint32_t> gone = whole_dimensions();
    result_.inputs.push_back(labels);
    result_.linear = true;
    for (std::uint32_t i = 0; i < labels.size(); ++i) {
      if (std::find(gone.begin(), gone.end(), i) != gone.end()) { continue; }
      result_.output.push_back(labels[i]);
      result_.output_shape.push_back(inputs_[0][i]);
    }
  }

  void transpose() {
    expect_inputs(1, 1);
    const std::size_t rank = inputs_[0].size();
    std::vector<std::uint32_t> order = text_.dimensions;
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> all(rank);
    std::iota(all.begin(), all.end(), 0U);
    if (order != all) {
      refuse("dimensions", "wrong-dimensions",
             fmt::format("a transpose of shape {} names each of its {} dimensions once", shape_text(inputs_[0]), rank),
             R"(as in "dimensions": [1, 0])");
    }
    const std::vector<std::int32_t> labels = add_labels(inputs_[0]);
    result_.inputs.push_back(labels);
    result_.linear = true;
    for (const std::uint32_t each : text_.dimensions) {
      result_.output.push_back(labels[each]);
      result_.output_shape.push_back(inputs_[0][each]);
    }
  }

  /// Groups of dimensions with equally many elements, from the first on.
  void reshape() {
    expect_inputs(1, 1);
    const TensorShape& from = inputs_[0];
    const TensorShape& to = text_.shape;
    if (elements(from) != elements(to)) {
      refuse("shape", "wrong-shape",
             fmt::format("{} elements of shape {} become {} of shape {}", elements(from), shape_text(from),
                         elements(to), shape_text(to)),
             "name a shape with as many elements");
    }
    result_.linear = true;
    result_.inputs.emplace_back();
    result_.output_shape = to;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < from.size() || j < to.size()) { reshape_group(i, j); }
  }

  void reshape_group(std::size_t& i, std::size_t& j) {
    const TensorShape& from = inputs_[0];
    const TensorShape& to = text_.shape;
    const std::int64_t first_in = i < from.size() ? from[i] : 1;
    const std::int64_t first_out = j < to.size() ? to[j] : 1;
    std::int64_t in = 1;
    std::int64_t out = 1;
    const std::int32_t shared = add_label(std::gcd(first_in, first_out));
    bool is_first_in = true;
    bool is_first_out = true;
    const auto take_in = [&] {
      in *= from[i++];
      result_.inputs[0].push_back(std::exchange(is_first_in, false) ? shared : kNoLabel);
    };
    const auto take_out = [&] {
      out *= to[j++];
      result_.output.push_back(std::exchange(is_first_out, false) ? shared : kNoLabel);
    };
    if (i < from.size()) { take_in(); }
    if (j < to.size()) { take_out(); }
    while (in != out) {
      if (in < out) {
        take_in();
      } else {
        take_out();
      }
    }
  }

  void einsum();
  std::vector<std::string> input_subscripts(std::size_t arrow) const;
  std::vector<std::int32_t> labels_of(std::size_t input, const std::string& letters,
                                      std::map<char, std::int32_t>& known);

  const OperatorText& text_;
  const std::vector<TensorShape>& inputs_;
  LayoutOperator result_;
};

std::vector<std::string> OperatorRule::input_subscripts(std::size_t arrow) const {
  std::vector<std::string> parts{""};
  for (const char letter : text_.subscripts.substr(0, arrow)) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

std::vector<std::int32_t> OperatorRule::labels_of(std::size_t input, const std::string& letters,
                                                  std::map<char, std::int32_t>& known) {
  const TensorShape& shape = inputs_[input];
  if (letters.size() != shape.size()) {
    refuse("subscripts", "wrong-subscripts",
           fmt::format("\"{}\" names {} dimensions, and {} has shape {}", letters, letters.size(), text_.inputs[input],
                       shape_text(shape)),
           "write a letter for each dimension");
  }
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto found = known.find(letters[i]);
    const std::int32_t label = found == known.end() ? add_label(shape[i]) : found->second;
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) {
      refuse("subscripts", "wrong-subscripts", fmt::format("\"{}\" has '{}' twice", letters, letters[i]),
             "diagonals are not among the operators here");
    }
    const std::int64_t size = result_.labels[static_cast<std::size_t>(label)].size;
    if (size != shape[i]) {
      refuse("subscripts", "wrong-shape",
             fmt::format("'{}' is {} in {}, and {} before", letters[i], shape[i], text_.inputs[input], size),
             "dimensions of one letter are equal");
    }
    known.emplace(letters[i], label);
    labels.push_back(label);
  }
  return labels;
}

void OperatorRule::einsum() {
  expect_inputs(1, 2);
  const std::size_t arrow = text_.subscripts.find("->");
  if (arrow == std::string::npos) {
    refuse("subscripts", "wrong-subscripts", fmt::format("\"{}\" does not say what comes out", text_.subscripts),
           R"(as in "subscripts": "bsh,hf->bsf")");
  }
  const std::vector<std::string> parts = input_subscripts(arrow);
  if (parts.size() != inputs_.size()) {
    refuse(
        "subscripts", "wrong-subscripts",
        fmt::format("\"{}\" is of {} tensors, and there are {} inputs", text_.subscripts, parts.size(), inputs_.size()),
        "write a part for each input");
  }
  std::map<char, std::int32_t> known;
  for (std::size_t i = 0; i < parts.size(); ++i) { result_.inputs.push_back(labels_of(i, parts[i], known)); }
  for (const char letter : text_.subscripts.substr(arrow + 2)) {
    const auto found = known.find(letter);
    const bool twice = found != known.end() &&
                       std::find(result_.output.begin(), result_.output.end(), found->second) != result_.output.end();
    if (found == known.end() || twice) {
      refuse(
          "subscripts", "wrong-subscripts",
          fmt::format("'{}' comes out of \"{}\" {}", letter, text_.subscripts, twice ? "twice" : "and is of no input"),
          "name what comes out of inputs, each once");
    }
    result_.output.push_back(found->second);
    result_.output_shape.push_back(result_.labels[static_cast<std::size_t>(found->second)].size);
  }
  if (inputs_.size() == 2) { result_.kind = LayoutOperatorKind::product; }
  result_.linear = inputs_.size() == 1;
}

}  // namespace

LayoutOperator operator_of(const OperatorText& text, const std::vector<TensorShape>& inputs) {
  return OperatorRule(text, inputs).make();
}

LayoutOperator source_of(const std::string& name, const TensorShape& shape) {
  LayoutOperator result{.name = name, .kind = LayoutOperatorKind::source, .output_shape = shape};
  for (const std::int64_t size : shape) {
    result.output.push_back(static_cast<std::int32_t>(result.labels.size()));
    result.labels.push_back({size});
  }
  return result;
}

LayoutOperator copy_of(const std::string& name, const TensorShape& shape) {
  LayoutOperator result = source_of(name, shape);
  result.kind = LayoutOperatorKind::copy;
  result.linear = true;
  result.inputs = {result.output};
  result.input_shapes = {shape};
  return result;
}

}  // namespace athanor
