"""What the statistical systems propose: the text of a derivation, as the service accepts it."""

from learners.contract import PLACEHOLDER, Proposal, truncate_to_limit
from learners.smt.forest import Derivation


def proposal_text(derivation: Derivation) -> str:
    """Return the text to propose: never empty, and within the length limit of the protocol."""
    return truncate_to_limit(derivation.translation.strip()) or PLACEHOLDER


def sampled_proposal(derivation: Derivation, log_probability: float) -> Proposal:
    """Return the proposal of a sampled translation, without its probability if another text replaces it."""
    text = proposal_text(derivation)
    is_sampled = text == derivation.translation
    return Proposal(text, min(log_probability, 0.0) if is_sampled else None)  # rounding may leave a number above 0
