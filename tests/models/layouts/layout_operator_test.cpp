#include "models/layouts/layout_operator.hpp"

#include <doctest/doctest.h>

#include "models/layouts/operator_rules.hpp"

using namespace athanor;

namespace {

const DeviceMesh kTwo{{{"a", 2}, {"b", 2}}};

LayoutOperator product() {
  return operator_of({OperatorName::einsum, {"x", "w"}, "y", "bsh,hf->bsf"}, {{4, 8, 16}, {16, 32}});
}

OperatorStrategy sharing(const LayoutOperator& each, const std::vector<std::pair<std::size_t, MeshAxes>>& labels) {
  OperatorStrategy strategy{std::vector<MeshAxes>(each.labels.size())};
  for (const auto& [label, axes] : labels) { strategy.labels[label] = axes; }
  return strategy;
}

std::string code_of(const OperatorText& text, const std::vector<TensorShape>& shapes) {
  try {
    operator_of(text, shapes);
  } catch (const LayoutModelError& error) { return error.code(); }
  return "";
}

}  // namespace

TEST_CASE("what shards a dimension that is summed over makes the output a sum, and the other way back") {
  const LayoutOperator each = product();
  const OperatorStrategy inner = sharing(each, {{0, {0}}, {2, {1}}});  // b by a, h by b
  CHECK(input_layout(each, inner, 0) == TensorLayout{{{0}, {}, {1}}});
  CHECK(input_layout(each, inner, 1) == TensorLayout{{{1}, {}}});
  CHECK(output_layout(each, inner) == TensorLayout{{{0}, {}, {}}, {1}});
  CHECK(output_gradient_layout(each, inner) == TensorLayout{{{0}, {}, {}}});
  CHECK(input_gradient_layout(each, inner, 0) == TensorLayout{{{0}, {}, {1}}});
  CHECK(input_gradient_layout(each, inner, 1) == TensorLayout{{{1}, {}}, {0}});
  const OperatorStrategy columns = sharing(each, {{3, {1}}});  // f by b
  CHECK(output_layout(each, columns) == TensorLayout{{{}, {}, {1}}});
  TensorLayout gradient = replicated(3);
  gradient.partial = {1};
  CHECK(input_gradient_layout(each, columns, 0) == gradient);
}

TEST_CASE("a product's operations are 2 m n k, shared by all axes, and twice as many in backward") {
  const LayoutOperator each = product();
  const OperatorStrategy all = sharing(each, {{0, {0}}, {3, {1}}});
  const Kernel kernel = forward_kernels(each, all, kTwo, Precision::bf16).front();
  CHECK(kernel.flops == 2.0 * 4 * 8 * 16 * 32 / 4);
  CHECK(kernel.m == 2 * 8);
  CHECK(kernel.n == 16);
  CHECK(kernel.k == 16);
  double back = 0;
  for (const Kernel& k : backward_kernels(each, all, kTwo, Precision::bf16, {true, true})) { back += k.flops; }
  CHECK(back == 2 * kernel.flops);
  CHECK(backward_kernels(each, all, kTwo, Precision::bf16, {false, true}).size() == 1);
  CHECK(backward_kernels(each, all, kTwo, Precision::bf16, {false, false}).empty());
}

TEST_CASE("strategies give each axis to a label that it divides, or to none, in each order") {
  // two axes, four labels: none or one for each, and both for one in two orders
  CHECK(strategies_of(product(), kTwo, false).size() == 5 * 5 + 4);
  const LayoutOperator odd = operator_of({OperatorName::element_wise, {"x"}, "y"}, {{3, 2}});
  CHECK(strategies_of(odd, kTwo, false).size() == 3);  // the second by a, by b or by none: 2 is not divided twice
  const LayoutOperator add = operator_of({OperatorName::add, {"x", "y"}, "z"}, {{3, 2}, {3, 2}});
  CHECK(strategies_of(add, kTwo, false).size() == 8);  // each axis: nothing, the second, through; not both the second
  CHECK(strategies_of(add, kTwo, true).size() == 15);
}

TEST_CASE("softmax and norms need their dimension whole") {
  const LayoutOperator softmax = operator_of({OperatorName::softmax, {"x"}, "y"}, {{4, 8}});
  for (const OperatorStrategy& each : strategies_of(softmax, kTwo, false)) { CHECK(each.labels[1].empty()); }
  OperatorText first{OperatorName::softmax, {"x"}, "y"};
  first.dimensions = {0};
  for (const OperatorStrategy& each : strategies_of(operator_of(first, {{4, 8}}), kTwo, false)) {
    CHECK(each.labels[0].empty());
  }
}

TEST_CASE("an embedding whose rows are sharded gives a sum, and reads only what it looks up") {
  const LayoutOperator each = operator_of({OperatorName::embedding, {"ids", "table"}, "y"}, {{4, 8}, {100, 16}});
  CHECK(each.output_shape == TensorShape{4, 8, 16});
  TensorLayout sum = replicated(3);
  sum.partial = {0};
  CHECK(output_layout(each, sharing(each, {{2, {0}}})) == sum);
  const Kernel kernel = forward_kernels(each, sharing(each, {}), kTwo, Precision::bf16).front();
  CHECK(kernel.bytes == 2.0 * (4 * 8 + 2 * 4 * 8 * 16));
}

TEST_CASE("broadcast dimensions are not sharded where they are 1") {
  const LayoutOperator each = operator_of({OperatorName::add, {"x", "bias"}, "y"}, {{4, 8}, {1, 8}});
  CHECK(each.output_shape == TensorShape{4, 8});
  CHECK(each.inputs[1] == std::vector<std::int32_t>{kNoLabel, 1});
}

TEST_CASE("a reshape keeps what shards the first of the dimensions that it merges or splits") {
  OperatorText split{OperatorName::reshape, {"x"}, "y"};
  split.shape = {2, 8, 4, 16};
  const LayoutOperator each = operator_of(split, {{2, 8, 64}});
  CHECK(each.output == std::vector<std::int32_t>{0, 1, 2, kNoLabel});
  CHECK(each.labels[2].size == 4);
  OperatorText merge{OperatorName::reshape, {"x"}, "y"};
  merge.shape = {16, 64};
  CHECK(operator_of(merge, {{2, 8, 64}}).inputs[0] == std::vector<std::int32_t>{0, kNoLabel, 1});
}

TEST_CASE("operators whose shapes do not fit are refused") {
  using enum OperatorName;
  CHECK(code_of({einsum, {"x", "w"}, "y", "bsh,hf"}, {{1, 2, 3}, {3, 4}}) == "wrong-subscripts");
  CHECK(code_of({einsum, {"x", "w"}, "y", "bs,hf->bf"}, {{1, 2, 3}, {3, 4}}) == "wrong-subscripts");
  CHECK(code_of({einsum, {"x", "w"}, "y", "bsh,hf->bsz"}, {{1, 2, 3}, {3, 4}}) == "wrong-subscripts");
  CHECK(code_of({einsum, {"x", "w"}, "y", "bsh,hf->bss"}, {{1, 2, 3}, {3, 4}}) == "wrong-subscripts");
  CHECK(code_of({einsum, {"x", "w"}, "y", "bsh->bsh"}, {{1, 2, 3}, {3, 4}}) == "wrong-subscripts");
  CHECK(code_of({einsum, {"x"}, "y", "bb->b"}, {{2, 2}}) == "wrong-subscripts");
  CHECK(code_of({einsum, {"x", "w"}, "y", "bsh,hf->bsf"}, {{1, 2, 3}, {4, 4}}) == "wrong-shape");
  CHECK(code_of({add, {"x", "w"}, "y"}, {{2, 3}, {4}}) == "wrong-shape");
  CHECK(code_of({softmax, {"x", "w"}, "y"}, {{2, 3}, {4}}) == "wrong-inputs");
  CHECK(code_of({embedding, {"x", "w"}, "y"}, {{2, 3}, {4}}) == "wrong-shape");
  OperatorText wrong{transpose, {"x"}, "y"};
  wrong.dimensions = {0, 0};
  CHECK(code_of(wrong, {{2, 3}}) == "wrong-dimensions");
  OperatorText beyond{reduce, {"x"}, "y"};
  beyond.dimensions = {2};
  CHECK(code_of(beyond, {{2, 3}}) == "no-such-dimension");
  OperatorText more{reshape, {"x"}, "y"};
  more.shape = {7};
  CHECK(code_of(more, {{2, 3}}) == "wrong-shape");
}
