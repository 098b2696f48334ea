// Generic resources as users write them (gpu:a100:2,shard:4) and trackable resources as Slurm counts them
// (cpu=4,mem=16G,node=2,billing=4,gres/gpu=2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur {

struct Gres {
    std::string name;  // "gpu"
    std::string type;  // "a100"; empty: any
    std::uint64_t count{1};
    bool operator==(const Gres&) const = default;
};
using GresList = std::vector<Gres>;  // in the order written; one entry per (name, type)

// What --gres takes: "gpu", "gpu:2", "gpu:a100:2", "gres:gpu:1", "gres/gpu:2", "gpu:a100:2,shard:4"; "none" and "" are
// empty. Counts take K, M, G, T suffixes (powers of 1024); entries of the same name and type add up. One name with and
// without a type is refused, as in Slurm.
Result<GresList> parse_gres(std::string_view text);
std::string print_gres(const GresList& list);                           // "gpu:a100:2,shard:4"
std::uint64_t gres_count(const GresList& list, std::string_view name);  // over all types of `name`

// What --gpus and its relatives take ("2", "a100", "a100:1,v100:1") as --gres would take it ("gpu:2", "gpu:a100", ...).
std::string gres_of_gpus(std::string_view text);

// What a user typed for --gres as squeue's %b and scontrol's TresPerNode print it: "gres:gpu:2,gres:shard:4".
std::string print_typed_gres(std::string_view text);

// A set of trackable resources. Memory is in MiB, everything else is a plain count.
struct Tres {
    std::string name;  // "cpu", "mem", "node", "billing", "license/matlab", "gres/gpu", "gres/gpu:a100"
    std::uint64_t count{};
    bool operator==(const Tres&) const = default;
};

class TresList {
public:
    // "cpu=4,mem=16G,gres/gpu:a100=2". An empty text is an empty list; a name twice is refused.
    static Result<TresList> parse(std::string_view text);

    std::uint64_t get(std::string_view name) const { return find(name).value_or(0); }
    std::optional<std::uint64_t> find(std::string_view name) const;
    void set(std::string_view name, std::uint64_t count);
    void add(std::string_view name, std::uint64_t count) { set(name, get(name) + count); }

    bool empty() const { return entries_.empty(); }
    const std::vector<Tres>& entries() const { return entries_; }  // cpu, mem, energy, node, billing, then by name
    std::string str() const;                                       // "cpu=4,mem=16G,node=2,billing=4,gres/gpu=2"
    bool operator==(const TresList&) const = default;

private:
    std::vector<Tres> entries_;
};

}  // namespace spur
