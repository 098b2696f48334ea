// Scripts and #SBATCH lines, as sbatch 22.05 treats them.
#include "core/slurm/script.hpp"

#include <gtest/gtest.h>

namespace spur {
namespace {

std::string refusal(std::string_view script) {
    const auto checked = check_script(script);
    return checked ? "accepted" : checked.error().text;
}

// The words of all directives, each in angle brackets.
std::string words(const std::string& lines) {
    const auto directives = script_directives("#!/bin/sh\n" + lines);
    if (!directives) return directives.error().text;
    std::string result;
    for (const auto& directive : *directives)
        for (const auto& word : directive.words) result += "<" + word + ">";
    return result;
}

TEST(T17Script, MustBeginWithAnInterpreter) {
    EXPECT_EQ(refusal("#!/bin/sh\ntrue\n"), "accepted");
    EXPECT_EQ(refusal("#! /bin/sh"), "accepted");
    EXPECT_EQ(refusal(""), "Batch script is empty!");
    const auto* text =
        "This does not look like a batch script.  The first\n"
        "line must start with #! followed by the path to an interpreter.\n"
        "For instance: #!/bin/sh";
    EXPECT_EQ(refusal("echo hi\n"), text);
    EXPECT_EQ(refusal("\n#!/bin/sh\n"), text);
    EXPECT_EQ(refusal("\xef\xbb\xbf#!/bin/sh\n"), text) << "a byte order mark hides the #!";
}

TEST(T17Script, NulBytesAndDosLineBreaksAreRefused) {
    EXPECT_EQ(refusal("#!/bin/sh\r\ntrue\r\n"),
              "Batch script contains DOS line breaks (\\r\\n)\ninstead of expected UNIX line breaks (\\n).");
    EXPECT_EQ(refusal("#!/bin/sh\necho a\r b\n"), "accepted");
    EXPECT_EQ(refusal(std::string_view{"#!/bin/sh\n\0", 11}),
              "The Slurm controller does not allow scripts that\ncontain a NULL character '\\0'.");
}

TEST(T17Script, DirectivesEndAtTheFirstCommand) {
    EXPECT_EQ(words("#SBATCH -J one -t 5\necho\n#SBATCH -J two\n"), "<-J><one><-t><5>");
    EXPECT_EQ(words("\n   \n\t# comment\n# other\n#SBATCH -J x"), "<-J><x>");
    EXPECT_EQ(words("  echo\n#SBATCH -J x\n"), "");
}

TEST(T17Script, OnlyAnExactPrefixMakesADirective) {
    EXPECT_EQ(words("# SBATCH -J x\n##SBATCH -J y\n #SBATCH -J z\n#sbatch -J w\n"), "");
    EXPECT_EQ(words("#SBATCH-J x\n#SBATCH\t-t 5\n#SBATCH\n#SBATCH   \n"), "<-J><x><-t><5>");
    EXPECT_EQ(words("#SBATCHX -J x\n"), "<X><-J><x>") << "sbatch calls X an invalid directive";
}

TEST(T17Script, QuotesHoldWordsTogether) {
    EXPECT_EQ(words("#SBATCH --job-name=\"a b\" --comment='c \"d'\n"), "<--job-name=a b><--comment=c \"d>");
    EXPECT_EQ(words("#SBATCH --comment=\"a\"b'c d'e\n"), "<--comment=abc de>");
    EXPECT_EQ(words("#SBATCH \"-J\" \"\"\n"), "<-J><>");
}

TEST(T17Script, ABackslashTakesTheMeaningFromTheNextCharacter) {
    EXPECT_EQ(words("#SBATCH --comment=a\\bc -J q\\\\r\n"), "<--comment=abc><-J><q\\r>");
    EXPECT_EQ(words("#SBATCH --comment=\"a\\\"b\" -J \\\"x\n"), "<--comment=a\"b><-J><\"x>");
    EXPECT_EQ(words("#SBATCH --comment=a\\#b\n"), "<--comment=a#b>");
    EXPECT_EQ(words("#SBATCH --comment=a\\ -J x \\\n"), "<--comment=a><-J><x>") << "but a blank still ends the word";
}

TEST(T17Script, AnUnquotedHashBeginsAComment) {
    EXPECT_EQ(words("#SBATCH --job-name=a # comment --comment=x\n"), "<--job-name=a>");
    EXPECT_EQ(words("#SBATCH --job-name=a#b --comment=x\n"), "<--job-name=a>");
    EXPECT_EQ(words("#SBATCH --comment=\"#x\" -J q #SBATCH -J y\n"), "<--comment=#x><-J><q>");
}

TEST(T17Script, AnUnmatchedQuoteIsRefusedWithItsLine) {
    EXPECT_EQ(words("#SBATCH -J x\n#SBATCH --job-name=\"a b\n"), "line 3: Unmatched `\"` in [ --job-name=\"a b]");
    EXPECT_EQ(words("#SBATCH -J 'q\\'\n"), "line 2: Unmatched `'` in [ 'q\\']");
}

TEST(T17Script, ComponentsOfAHeterogeneousJobAreMarked) {
    const auto directives =
        script_directives("#!/bin/sh\n#PBS -N first\n#SBATCH -N1\n#SBATCH hetjob # next\n#SBATCH -N2\n").value();
    ASSERT_EQ(directives.size(), 4U);
    EXPECT_EQ(directives[0].words, (std::vector<std::string>{"-N1"}));
    EXPECT_EQ(directives[1].kind, Directive::Kind::pbs) << "others apply after #SBATCH, within their component";
    EXPECT_TRUE(directives[2].starts_component());
    EXPECT_EQ(directives[3].line, 5U);
}

TEST(T17Script, OtherSystemsDirectivesCanBeIgnored) {
    const auto* script = "#!/bin/sh\n#PBS -N pbs\n#BSUB -J lsf\n#SBATCH -J sbatch\n";
    EXPECT_EQ(script_directives(script)->size(), 3U);
    EXPECT_EQ(script_directives(script, true)->size(), 1U);
}

}  // namespace
}  // namespace spur
