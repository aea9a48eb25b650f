"""Three judges that fail differently and a stance classifier, none of which needs a key or a network."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_judges", "auditor_stance_classifiers"]


@hookimpl
def auditor_judges() -> list[Offer]:
    """One judge a method; each declares the family ``embedded:<method>``."""
    return [
        Offer(
            "answer-match",
            "compares dates, numbers, units, tolerances and names with the reference",
            "auditor_embedded_judges.answer_match:AnswerMatch",
        ),
        Offer(
            "embedding-agreement",
            "compares what is said with the reference by word vectors",
            "auditor_embedded_judges.embedding_agreement:EmbeddingAgreement",
        ),
        Offer(
            "token-alignment",
            "aligns the reference's words with the answer's, allowing for spelling",
            "auditor_embedded_judges.token_alignment:TokenAlignment",
        ),
    ]


@hookimpl
def auditor_stance_classifiers() -> list[Offer]:
    """Conservative phrase rules, kept as data."""
    return [
        Offer(
            "rules", "conservative phrase rules; says unsure when in doubt", "auditor_embedded_judges.rules:StanceRules"
        )
    ]
