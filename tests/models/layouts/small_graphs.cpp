#include "tests/models/layouts/small_graphs.hpp"

#include <cmath>

namespace athanor::testing {

Time ring_time(const LayoutStep& step, Bytes size, const DeviceMesh& mesh) {
  const auto n = static_cast<std::int64_t>(mesh.size(step.axes));
  switch (step.kind) {
    case LayoutStepKind::slice: return Time::zero();
    case LayoutStepKind::permute: return Time{size.count()};
    case LayoutStepKind::all_reduce: return Time{2 * size.count() * (n - 1) / n};
    case LayoutStepKind::all_gather:
    case LayoutStepKind::reduce_scatter:
    case LayoutStepKind::all_to_all: break;
  }
  return Time{size.count() * (n - 1) / n};
}

LayoutModelText two_layer_perceptron(std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t f) {
  OperatorBlockText block{.name = "mlp", .operators = {}};
  block.parameters = {{"w1", {h, f}}, {"w2", {f, h}}};
  block.operators = {{OperatorName::einsum, {"x", "w1"}, "u", "bsh,hf->bsf"},
                     {OperatorName::element_wise, {"u"}, "v"},
                     {OperatorName::einsum, {"v", "w2"}, "w", "bsf,fh->bsh"},
                     {OperatorName::element_wise, {"w"}, "y"}};
  return {{{"x", {b, s, h}}}, {block}};
}

LayoutModelText transformer_layers(std::uint32_t layers, std::int64_t b, std::int64_t s, std::int64_t n,
                                   std::int64_t d) {
  const std::int64_t h = n * d;
  OperatorBlockText block{.name = "layer", .repeat = layers, .operators = {}};
  if (layers > 1) { block.carries = {{"y", "x"}}; }
  block.parameters = {{"wq", {h, n, d}}, {"wk", {h, n, d}},  {"wv", {h, n, d}},
                      {"wo", {n, d, h}}, {"w1", {h, 4 * h}}, {"w2", {4 * h, h}}};
  block.operators = {{OperatorName::layer_norm, {"x"}, "a"},
                     {OperatorName::einsum, {"a", "wq"}, "q", "bsh,hnd->bsnd"},
                     {OperatorName::einsum, {"a", "wk"}, "k", "bsh,hnd->bsnd"},
                     {OperatorName::einsum, {"a", "wv"}, "v", "bsh,hnd->bsnd"},
                     {OperatorName::einsum, {"q", "k"}, "scores", "bsnd,btnd->bnst"},
                     {OperatorName::softmax, {"scores"}, "shares"},
                     {OperatorName::einsum, {"shares", "v"}, "mixed", "bnst,btnd->bsnd"},
                     {OperatorName::einsum, {"mixed", "wo"}, "o", "bsnd,ndh->bsh"},
                     {OperatorName::add, {"x", "o"}, "r"},
                     {OperatorName::layer_norm, {"r"}, "c"},
                     {OperatorName::einsum, {"c", "w1"}, "u", "bsh,hf->bsf"},
                     {OperatorName::element_wise, {"u"}, "g"},
                     {OperatorName::einsum, {"g", "w2"}, "e", "bsf,fh->bsh"},
                     {OperatorName::add, {"r", "e"}, "y"}};
  return {{{"x", {b, s, h}}}, {block}};
}

GivenLayouts megatron_layouts(std::uint8_t data, std::uint8_t tensor) {
  const MeshAxes none{};
  const MeshAxes d{data};
  const MeshAxes t{tensor};
  GivenLayouts given;
  for (const char* name : {"wq", "wk", "wv"}) { given[name] = {{none, t, none}}; }
  given["wo"] = {{t, none, none}};
  given["w1"] = {{none, t}};
  given["w2"] = {{t, none}};
  for (const char* name : {"x", "r", "y"}) { given[name] = {{d, none, none}}; }
  return given;
}

LayoutPrices ring_prices(const DeviceMesh& mesh, double flops_per_ps) {
  return {[mesh](const LayoutStep& step, Bytes size) { return ring_time(step, size, mesh); }, nullptr,
          [flops_per_ps](const Kernels& kernels) {
            double flops = 0;
            for (const Kernel& kernel : kernels) { flops += kernel.flops; }
            return Time{std::llround(flops / flops_per_ps)};
          }};
}

LayoutTask task_of(const LayoutModelText& model, const DeviceMesh& mesh, const GivenLayouts& given) {
  std::set<std::string> names;
  for (const auto& [name, layout] : given) { names.insert(name); }
  PlaceInModel place;
  LayoutTask task{graph_of(model, names, place), mesh, given};
  task.search = false;
  return task;
}

}  // namespace athanor::testing
