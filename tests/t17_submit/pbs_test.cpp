// #PBS and #BSUB lines as sbatch options.
#include <gtest/gtest.h>

#include "core/slurm/script.hpp"

namespace spur {
namespace {

std::string translated(const std::string& line) {
    const auto directives = script_directives("#!/bin/sh\n" + line + "\n");
    if (!directives) return directives.error().text;
    std::string result;
    for (const auto& directive : *directives) {
        const auto words = sbatch_words(directive);
        if (!words) return words.error().text;
        for (const auto& word : *words) result += (result.empty() ? "" : " ") + word;
    }
    return result;
}

TEST(T17Pbs, PlainOptionsHaveCounterparts) {
    EXPECT_EQ(translated("#PBS -N name -q main -A acct"), "--job-name=name --partition=main --account=acct");
    EXPECT_EQ(translated("#PBS -o out.txt -e err.txt -j oe -k oe"), "--output=out.txt --error=err.txt");
    EXPECT_EQ(translated("#PBS -m abe -M me@x"), "--mail-type=BEGIN,END,FAIL --mail-user=me@x");
    EXPECT_EQ(translated("#PBS -m n"), "--mail-type=NONE");
    EXPECT_EQ(translated("#PBS -r n -p 10 -h"), "--no-requeue --nice=10 --hold");
    EXPECT_EQ(translated("#PBS -r y"), "--requeue");
    EXPECT_EQ(translated("#PBS -t 1-4%2"), "--array=1-4%2");
    EXPECT_EQ(translated("#PBS -J 1-4"), "--array=1-4");
    EXPECT_EQ(translated("#PBS -W depend=afterok:5"), "--dependency=afterok:5");
    EXPECT_EQ(translated("#PBS -v A=1,B -V"), "--export=ALL,A=1,B --export=ALL");
    EXPECT_EQ(translated("#PBS -N \"a b\""), "--job-name=a b");
}

TEST(T17Pbs, ResourcesBecomeSbatchsOwn) {
    EXPECT_EQ(translated("#PBS -l nodes=2:ppn=4,walltime=10:00"), "--nodes=2 --ntasks=8 --time=10:00");
    EXPECT_EQ(translated("#PBS -l nodes=3"), "--nodes=3");
    EXPECT_EQ(translated("#PBS -l nodes=n1:ppn=2+n2:ppn=2"), "--nodelist=n1,n2 --ntasks=4");
    EXPECT_EQ(translated("#PBS -l nodes=1:ppn=4:gpus=2:ib"), "--nodes=1 --ntasks=4 --gres=gpu:2 --constraint=ib");
    EXPECT_EQ(translated("#PBS -l select=2:ncpus=4:mem=2gb:mpiprocs=4"),
              "--nodes=2 --mincpus=4 --mem=2gb --ntasks-per-node=4");
    EXPECT_EQ(translated("#PBS -l mem=4gb,ncpus=4"), "--mem=4gb --mincpus=4");
    EXPECT_EQ(translated("#PBS -l mem=4000000000b"), "--mem=3906250K");
    EXPECT_EQ(translated("#PBS -l file=10gb,nice=5"), "--tmp=10gb --nice=5");
    EXPECT_EQ(translated("#PBS -l accelerator=True"), "--gres=gpu:1");
    EXPECT_EQ(translated("#PBS -l naccelerators=2"), "--gres=gpu:2");
    EXPECT_EQ(translated("#PBS -l walltime=1:02:03:04"), "--time=1-02:03:04");
    EXPECT_EQ(translated("#PBS -l place=scatter,arch=x86"), "");
}

TEST(T17Pbs, StartTimesAreRewritten) {
    EXPECT_EQ(translated("#PBS -a 2330"), "--begin=23:30");
    EXPECT_EQ(translated("#PBS -a 11172330"), "--begin=11/17-23:30");
    EXPECT_EQ(translated("#PBS -a 202611172330.15"), "--begin=2026-11-17T23:30");
}

TEST(T17Pbs, OptionsAreReadAsGetoptReadsThem) {
    EXPECT_EQ(translated("#PBS -Nname -hV"), "--job-name=name --hold --export=ALL");
    EXPECT_EQ(translated("#PBS -l"), "line 2: #PBS option -l needs a value");
    EXPECT_EQ(translated("#PBS foo"), "line 2: Invalid argument: foo");
    EXPECT_EQ(translated("#PBS -X"),
              "line 2: #PBS option \"-X\" has no counterpart in sbatch; remove it or use --ignore-pbs");
    EXPECT_EQ(translated("#PBS --bogus"),
              "line 2: #PBS option \"--bogus\" has no counterpart in sbatch; remove it or use --ignore-pbs");
    EXPECT_EQ(translated("#PBS -l select=1:ncpus=2+1:ncpus=4"),
              "line 2: select=1:ncpus=2+1:ncpus=4 has more than one chunk; use #SBATCH hetjob for unequal nodes");
}

TEST(T17Pbs, LsfOptionsHaveCounterparts) {
    EXPECT_EQ(translated("#BSUB -J lsf -n 2,4 -W 10 -q main"), "--job-name=lsf --ntasks=4 --time=10 --partition=main");
    EXPECT_EQ(translated("#BSUB -o out -e err -cwd /tmp -x"), "--output=out --error=err --chdir=/tmp --exclusive");
    EXPECT_EQ(translated("#BSUB -m \"n1 n2\" -M 1000"), "--nodelist=n1,n2 --mem-per-cpu=1000K");
    EXPECT_TRUE(translated("#BSUB -R span[hosts=1]").contains("#BSUB option \"-R\" has no counterpart"));
}

}  // namespace
}  // namespace spur
