#pragma once

#include <memory>
#include <string>

#include "models/training/compute_profile.hpp"
#include "models/training/layer_work.hpp"
#include "models/training/step/pieces.hpp"

namespace athanor {

/// Puts together what a layer computes and communicates.
class LayerAssembly {
 public:
  /// Borrows all.
  LayerAssembly(const Transformer& model, const ParallelPlan& plan, const GpuRates& gpu, const ComputeProfile& profile);

  /// `experts`: has the layer any; `recompute`: does the plan recompute this one; `mlp_parameters`: of one GPU, of the
  /// MLP or the shared expert.
  LayerPieces layer(const LayerWork& work, bool experts, bool recompute, double mlp_parameters) const;
  LayerPieces embedding() const;
  LayerPieces output() const;
  /// Of one process.
  LayerPieces loss_of_all() const;

  WorkPiece compute(const std::string& label, const Kernels& kernels) const;

 private:
  LayerAssembly(const LayerAssembly& other, const GpuRates& gpu)
      : model_(other.model_),
        plan_(other.plan_),
        gpu_(gpu),
        profile_(other.profile_),
        dispatch_(other.dispatch_),
        combine_(other.combine_) {}
  /// The same where the GPU computes with `gpu`.
  LayerAssembly with(const GpuRates& gpu) const;
  /// What is left of the GPU beside kernels that exchange tokens: multiprocessors, and their share of its peaks.
  GpuRates beside_exchange() const;
  LayerPieces own_layer(const LayerWork& work, bool experts, bool recompute, double mlp_parameters) const;
  Bytes activations() const;
  void add_compute(Pieces& pieces, const std::string& label, const Kernels& kernels) const;
  void add_enter(Pieces& pieces, bool beside, bool wide = false) const;
  void add_leave(Pieces& pieces, bool overlapped) const;
  void add_context(Pieces& pieces, CollectiveKind kind) const;
  void add_exchange(Pieces& pieces, bool combines, bool beside) const;
  void add_forward(Pieces& pieces, const LayerWork& work, bool experts, Kernels PhasedKernels::*phase) const;
  void add_experts_forward(Pieces& pieces, const LayerWork& work, Kernels PhasedKernels::*phase) const;
  void add_modules_again(Pieces& pieces, const LayerWork& work, bool experts) const;
  void add_block_forward(Pieces& pieces, const std::string& label, const Kernels& kernels) const;
  void add_block_backward(Pieces& pieces, const std::string& label, const PhasedKernels& work, bool weights,
                          bool attention) const;
  void add_backward(Pieces& pieces, const LayerWork& work, bool experts, bool weights, double mlp_parameters) const;
  void add_weights(Pieces& pieces, const LayerWork& work, bool experts, double mlp_parameters) const;

  const Transformer& model_;
  const ParallelPlan& plan_;
  const GpuRates& gpu_;
  const ComputeProfile& profile_;
  std::shared_ptr<const TokenExchange> dispatch_ = nullptr;  ///< of tokens that go to experts in their own way
  std::shared_ptr<const TokenExchange> combine_ = nullptr;
};

}  // namespace athanor
