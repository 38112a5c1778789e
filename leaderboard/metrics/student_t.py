"""Student's t, for intervals of the means of a few values."""

# Quantiles for a two-sided interval of 95 %, by degrees of freedom from 1.
_QUANTILES = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
NORMAL_QUANTILE = 1.960


def t_quantile(freedom: int) -> float:
    """Return the quantile for a two-sided interval of 95 %; above 30 degrees of freedom to two decimals."""
    if freedom <= len(_QUANTILES):
        return _QUANTILES[max(1, freedom) - 1]
    return NORMAL_QUANTILE + (_QUANTILES[-1] - NORMAL_QUANTILE) * len(_QUANTILES) / freedom
