#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layouts/layout_operator.hpp"

namespace athanor {

/// What users call the operators of a graph.
enum class OperatorName : std::uint8_t {
  einsum,        ///< of one or two tensors, by subscripts as NumPy has them: "bsh,hf->bsf"
  element_wise,  ///< of each element by itself; inputs are broadcast to the largest shape, from the last dimension on
  add,           ///< likewise, and linear: sums may go through
  softmax,       ///< needs its dimension whole
  layer_norm,    ///< likewise; further inputs scale and shift
  embedding,     ///< of indices and a table: rows of the table
  reduce,        ///< sums over dimensions
  transpose,     ///< dimensions in another order
  reshape,       ///< the same elements in another shape
};
std::string_view name(OperatorName name);

/// An operator as a user describes it.
struct OperatorText {
  OperatorName kind = OperatorName::element_wise;
  std::vector<std::string> inputs;
  std::string output;
  std::string subscripts{};                 ///< of an einsum
  std::vector<std::uint32_t> dimensions{};  ///< of softmax, norms and sums; of a transpose: which comes where
  TensorShape shape{};                      ///< of a reshape
};

/// What is wrong with a model of operators.
class LayoutModelError : public std::runtime_error {
 public:
  /// `key`: of the operator, or "" where it is as a whole.
  LayoutModelError(std::string key, std::string code, const std::string& message, std::string hint)
      : std::runtime_error(message), key_(std::move(key)), code_(std::move(code)), hint_(std::move(hint)) {}

  const std::string& key() const { return key_; }
  const std::string& code() const { return code_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string key_;
  std::string code_;
  std::string hint_;
};

/// The operator by the rule of einsum. Throws LayoutModelError where shapes do not fit.
///
/// A reshape keeps what shards the first of the dimensions that it merges or splits; the others of them are whole, for
/// their blocks are not contiguous.
LayoutOperator operator_of(const OperatorText& text, const std::vector<TensorShape>& inputs);

/// Of an input or a parameter, and of what goes on to several operators, as it comes.
LayoutOperator source_of(const std::string& name, const TensorShape& shape);
LayoutOperator copy_of(const std::string& name, const TensorShape& shape);

}  // namespace athanor
