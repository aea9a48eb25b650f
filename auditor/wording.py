"""Sentences that every report says alike: the level of assurance, what a signature leaves open, limits, the glossary.

Invariant: none of them depends on a result.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ASSURANCE", "GLOSSARY", "METHOD_LIMITS", "SIGNATURE_LIMITS", "Term"]

# DESIGN §5, "What a signature means": the only level that there is so far.
ASSURANCE = "Self-run: by the party named below, on its own machine. No third party watched the run."

SIGNATURE_LIMITS = (
    "A signature shows that this report has not changed since it was signed, and with which key. It does not show:",
    "that the signer is who the name says, unless you know the key's fingerprint from elsewhere;",
    "that the systems were configured as their users would have them, or were the vendor's own and unaltered;",
    "that nobody ran the audit several times and kept the best run;",
    "that questions, references and corpus are fair or typical of your use.",
)

# METHODS §2, "Disclosure".
METHOD_LIMITS = (
    "Questions and documents are in one language and from one corpus; other languages and corpora may order the "
    "systems differently.",
    "There are few canaries of each kind, so rates of invented answers have wide intervals.",
    "Each system was asked with one prompt, one chunking and one retrieval setting of its own.",
    "Judges make errors that all of them may share; rates are what the panel judged, not the truth. "
    "A panel of embedded judges is weaker than one of language models.",
    "A canary's absence is as sure as its proof: what every prover overlooks stays overlooked.",
    "What is said of answers from memory is a hypothesis: nobody outside can see what a model was trained on.",
)


@dataclass(frozen=True, slots=True)
class Term:
    """One entry of the glossary."""

    name: str
    meaning: str


# METHODS §1 and §2, in the words of a reader who is no statistician; in the order of the alphabet.
GLOSSARY = (
    Term("Abstained", "The system declined to answer. Costs nothing and earns nothing."),
    Term("Accuracy when answering", "Of the answerable questions that a system attempted, the share it got right."),
    Term("Answer Accuracy", "Mean of the judges' marks (correct 1, partial .5, incorrect 0); declining counts 0."),
    Term("Attempt", "An answer, or a denial that the thing asked about exists. Everything but declining."),
    Term(
        "Baseline",
        "A system that answers without documents. It promises nothing about them, so it has no canary violations.",
    ),
    Term("Benchmark", "The questions that the documents do answer."),
    Term(
        "Bounds",
        "The range that a figure could lie in, whatever the trials without a score might have turned out to be.",
    ),
    Term(
        "Canary",
        "A question whose answer is proven to be absent from the documents. A system that promises to answer from them "
        "has to decline it. Kinds: knowledge gap (not covered), hold-out (its document was taken out), temporal (newer "
        "than the documents), fictitious (about something that does not exist).",
    ),
    Term("Claimed canary", "A question said to be a canary whose absence nobody proved. In no score."),
    Term(
        "Cluster", "Questions made from one source. They tend to stand or fall together, so intervals count clusters."
    ),
    Term("CVR", "Canary violation rate: of the scored canary trials of one kind, the share that was attempted."),
    Term("Denied", "The system stated as a fact that the thing asked about does not exist."),
    Term("Evidence", "The passages that a system says it retrieved, and the documents that it cites."),
    Term(
        "Exclusion", "A trial without a score: an outage, an empty or blocked reply, an undecided panel, never asked."
    ),
    Term("Holm", "A correction that keeps many comparisons from finding differences by chance alone."),
    Term(
        "Interval",
        "The range of values that agree with what was seen, at 95 % unless another level is named: [low, high].",
    ),
    Term("k", "What a wrong answer costs, in right answers. At k = 4, answering pays from 80 % certainty."),
    Term("κ, AC1", "Agreement of judges beyond what chance would bring: 1 is full agreement, 0 is chance."),
    Term(
        "Ledger", "The record of every call, each entry chained to the one before, that all numbers are computed from."
    ),
    Term("n", "The number of trials behind a figure."),
    Term(
        "Panel", "The judges. Each sees question, reference and answer, never whose it is; their median is the verdict."
    ),
    Term("Protocol", "Everything fixed before the run, named by its digest."),
    Term("Proof", "How the absence of a canary's answer was shown, over which documents, and when."),
    Term("Q_bench, Q_k", "Mean points an answerable question: right +1, wrong −k, declined 0."),
    Term("Q_mixed", "Q_bench and violations as one score, at a stated share of canaries."),
    Term("Role conflict (†)", "The system shares a model or family with a judge or classifier of this audit."),
    Term("Scrubbed answer", "The answer as judges saw it: without citation marks, house phrases and thinking."),
    Term("Simulated", "The system only imitates a product. Its figures say nothing about that product."),
    Term("Stance", "Whether a text answers, declines or denies."),
    Term("Trial", "One question put once to one system, with the one reply that came back."),
    Term("Unresolved", "The panel could not decide, after asking again. Not scored, and counted."),
    Term("Volume accuracy", "Correct answers of all scored trials. It credits a right guess and forgives a wrong one."),
)
