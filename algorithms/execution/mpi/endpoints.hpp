#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/execution/mpi/communicator.hpp"
#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// The messages that this process has under way, by MPI point-to-point. Agent a lives in process a % processes.
///
/// A connection is a tag between two processes: its number among the connections from the one to the other. MPI keeps
/// the order of messages with one tag, so that message k meets receive k. Of each connection up to `slots` receives are
/// posted and up to `slots` sends under way. A send reads the sender's memory until it is done: that memory is lent.
class MpiEndpoints {
 public:
  struct Message {
    std::byte* data = nullptr;
    Elements count;
  };

  /// `element_size`: 1, 2, 4 or 8 bytes. Requires that communicator and wiring outlive this. Throws SimulationError
  /// "mpi" where two processes share more connections than the library has tags.
  MpiEndpoints(const Communicator& communicator, const Wiring& wiring, const AgentCount& agent_count,
               std::uint32_t slots, std::size_t element_size);

  /// Numbers of messages back to 0. Requires that none is under way.
  void reset();

  /// Posts the next receive of a connection to an agent of this process. Requires posted() - taken() < slots, and
  /// memory that nobody else touches before the message is taken. Throws SimulationError where MPI cannot count it.
  void post(std::uint32_t connection, const Message& to);
  std::uint64_t posted(std::uint32_t connection) const { return in_[inbound_[connection]].posted; }
  /// The next message, if it has come: it lies where its receive was posted.
  const Message* arrived(std::uint32_t connection) const;
  /// Done with that message.
  void take(std::uint32_t connection);
  std::uint64_t taken(std::uint32_t connection) const { return in_[inbound_[connection]].taken; }

  /// Has the send of `slots` messages ago on a connection from an agent of this process been done?
  bool may_send(std::uint32_t connection) const;
  std::uint64_t sent(std::uint32_t connection) const { return out_[outbound_[connection]].sent; }
  /// Lends the memory until the send is done. Requires may_send().
  void send(std::uint32_t connection, const std::byte* from, Elements count);
  /// Does a send under way read any of these bytes?
  bool lent(const std::byte* first, std::size_t bytes) const;
  std::uint64_t sends_under_way() const { return sends_under_way_; }
  /// A connection with a send under way. Requires that there is one.
  std::uint32_t unsent() const;

  /// Lets MPI work. The lanes for which a message has come, or of which a send is done; valid until the next call.
  /// Throws SimulationError "matching" where a message has another length than its receive.
  std::span<const std::uint32_t> poll();

 private:
  struct Inbound {
    std::uint32_t connection = 0;
    int source = 0;
    int tag = 0;
    std::uint64_t posted = 0;
    std::uint64_t taken = 0;
  };
  struct Outbound {
    std::uint32_t connection = 0;
    int destination = 0;
    int tag = 0;
    std::uint64_t sent = 0;
  };
  struct Posted {
    Message message;
    bool arrived = false;
  };
  struct Lent {
    const std::byte* first = nullptr;
    const std::byte* end = nullptr;
  };

  void number_connections();
  int tag(std::vector<std::uint32_t>& numbers, std::uint32_t peer) const;
  int countable(std::uint32_t connection, Elements count) const;
  std::uint32_t process_of(std::uint32_t lane) const;
  std::size_t in_place(std::size_t in, std::uint64_t message) const { return in * slots_ + message % slots_; }
  std::size_t out_place(std::size_t out, std::uint64_t message) const { return out * slots_ + message % slots_; }
  void complete_receive(std::size_t place, const MPI_Status& status);
  void complete_send(std::size_t place);

  const Communicator& communicator_;
  const Wiring& wiring_;
  AgentCount agent_count_;
  std::uint32_t slots_;
  MPI_Datatype type_;
  std::int64_t element_size_;
  std::vector<std::uint32_t> inbound_;   ///< of each connection: its place in in_
  std::vector<std::uint32_t> outbound_;  ///< of each connection: its place in out_
  std::vector<Inbound> in_;
  std::vector<Outbound> out_;
  std::vector<Posted> received_;  ///< in the slots of each inbound connection
  std::vector<Lent> lent_;        ///< in the slots of each outbound connection
  std::uint64_t sends_under_way_ = 0;
  std::vector<MPI_Request> requests_;  ///< those of received_, then those of lent_
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
  std::vector<std::uint32_t> lanes_;
};

}  // namespace athanor
