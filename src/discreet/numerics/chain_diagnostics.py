"""How far draws of several chains can be trusted: R̂, effective sample sizes, standard errors.

After Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and
localization: an improved R̂ for assessing convergence of MCMC", with Geyer's initial monotone
sequence for the autocorrelations. Draws have the shape chains × draws × quantities throughout.
"""

from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.numerics.rounding import sum_error

R_HAT_LIMIT = 1.01
MOST_SHOWN = 1000.0  # an R̂ beyond it is of chains that never move
LEAST_EFFECTIVE = 100  # effective draws a chain, the paper's rule of thumb
AT_ONCE = 2**23  # numbers worked on together


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """What the draws say of themselves, for each quantity that varied.

    `varied` marks the quantities that vary among the draws by more than rounding can make; the
    other arrays are about these alone, in order. A quantity that never varied tells nothing of its
    uncertainty.
    """

    varied: BoolArray
    r_hat: FloatArray  # the larger of the bulk's and the folded draws'
    bulk_draws: FloatArray  # effective draws for the middle of the distribution
    tail_draws: FloatArray  # effective draws for its 5 % and 95 % points
    standard_error: FloatArray  # of the mean
    n_chains: int
    n_draws: int  # kept draws of each chain

    def __post_init__(self) -> None:
        for array in (self.varied, self.r_hat, self.bulk_draws, self.tail_draws):
            read_only(array)
        read_only(self.standard_error)

    @property
    def warning(self) -> str:
        """Why not to trust the draws yet, or nothing."""
        if len(self.r_hat) == 0:
            return ""
        worst, fewest = (
            float(self.r_hat.max()),
            float(min(self.bulk_draws.min(), self.tail_draws.min())),
        )
        if worst > R_HAT_LIMIT:
            most = f"up to {worst:.3f}" if worst < MOST_SHOWN else f"over {MOST_SHOWN:,.0f}"
            return f"chains disagree (R-hat {most}, above {R_HAT_LIMIT}); allow more seconds"
        if fewest < LEAST_EFFECTIVE * self.n_chains:
            return f"only {fewest:.0f} effective draws in some cell; allow more seconds"
        return ""


def diagnose(draws: IntArray | FloatArray, *, rounding: float = 0.0) -> Diagnostics:
    """R̂, effective draws and standard errors of chains × draws × quantities.

    `rounding` bounds the error of each draw as it was computed, 0 for counts. Draws that differ by
    less are the same: noise has autocorrelations of its own, which would be taken for those of a
    chain that hardly moves.

    Checked: three axes, at least four draws a chain (each chain is split in two).
    """
    if draws.ndim != 3:
        raise InputError(must_be("draws", "chains × draws × quantities", f"{draws.ndim} axes"))
    n_chains, n_draws, _ = draws.shape
    if n_draws < 4 or n_chains < 1:
        raise InputError(must_be("draws", "at least 4 of each chain", n_draws))
    if not np.all(np.isfinite(draws)):
        raise InputError(must_be("draws", "finite", "others"))
    varied = np.ptp(draws, axis=(0, 1)) > 2 * rounding
    chosen = np.flatnonzero(varied)
    width = max(1, AT_ONCE // (n_chains * n_draws))
    parts = [
        _diagnosed(split(draws[:, :, chosen[i : i + width]]), rounding)
        for i in range(0, len(chosen), width)
    ]
    empty = np.zeros((4, 0))
    r_hat_, bulk, tail, error = np.concatenate([empty, *parts], axis=1)
    return Diagnostics(
        varied=varied,
        r_hat=r_hat_,
        bulk_draws=bulk,
        tail_draws=tail,
        standard_error=error,
        n_chains=n_chains,
        n_draws=n_draws,
    )


def _diagnosed(halves: FloatArray, rounding: float) -> FloatArray:
    """Rows R̂, bulk and tail effective draws, standard error of the mean; halves of chains."""
    # Ranks see the last bit, so draws that are the same but for rounding become the same whole
    # number first; distances of whole numbers from their median are then exact too.
    steps = np.rint(halves / (4 * rounding)) if rounding else halves
    ranked = rank_normalised(steps)
    folded = rank_normalised(np.abs(steps - np.median(steps, axis=(0, 1))))
    bulk = effective_draws(ranked)
    r_hats = np.maximum(r_hat(ranked), r_hat(folded))
    deviation = halves.std(axis=(0, 1), ddof=1)
    error = deviation / np.sqrt(effective_draws(halves))
    return np.stack([r_hats, bulk, _tail_draws(steps, bulk), error])


def _tail_draws(halves: FloatArray, bulk: FloatArray) -> FloatArray:
    """The lesser of the effective draws of I(x ≤ 5 % point) and of I(x ≤ 95 % point).

    An indicator that never varies (few values, as counts have) says nothing and is passed over.
    """
    fewest = np.full(halves.shape[2], np.inf)
    for share in (0.05, 0.95):
        point = np.quantile(halves, share, axis=(0, 1))
        below = (halves <= point).astype(np.float64)
        told = below.min(axis=(0, 1)) < below.max(axis=(0, 1))
        fewest[told] = np.minimum(fewest[told], effective_draws(below[:, :, told]))
    return np.where(np.isfinite(fewest), fewest, bulk)


def split(draws: IntArray | FloatArray) -> FloatArray:
    """Each chain's first and second half as chains of their own; a middle draw is dropped."""
    half = draws.shape[1] // 2
    both = np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])
    return both.astype(np.float64)


def _mean_ranks(numbers: FloatArray) -> FloatArray:
    """Ranks from 1 on, ties at their mean; scipy.stats has them too, after half a second."""
    _, place, often = np.unique(numbers, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(often) - (often - 1) / 2)[place]
    return ranks


def rank_normalised(draws: FloatArray) -> FloatArray:
    """z = Φ⁻¹((rank − 3/8) / (S + 1/4)) over all chains together, ties at their mean rank."""
    n_all = draws.shape[0] * draws.shape[1]
    flat = draws.reshape(n_all, -1)
    ranks = np.empty(flat.shape)
    for column in range(flat.shape[1]):
        ranks[:, column] = _mean_ranks(flat[:, column])
    normal: FloatArray = ndtri((ranks.reshape(draws.shape) - 0.375) / (n_all + 0.25))
    return normal


def r_hat(draws: FloatArray) -> FloatArray:
    """√(((N − 1)/N · W + B/N) / W), between (B) and within (W) chains; 1 where nothing varies.

    Chains that never move from different values have W = 0: a ratio of the largest float stands
    for an infinite one.
    """
    n_draws = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)  # B / N
    ratio = np.ones(draws.shape[2])
    noise = _variance_noise(draws)
    moving = within > noise
    ratio[moving] = (n_draws - 1) / n_draws + between[moving] / within[moving]
    ratio[~moving & (between > noise)] = np.finfo(np.float64).max
    found: FloatArray = np.sqrt(ratio)
    return found


def _variance_noise(draws: FloatArray) -> FloatArray:
    """The variance that rounding of means can make of each quantity where it has none."""
    size = np.abs(draws).max(axis=(0, 1))
    noise: FloatArray = sum_error(draws.shape[1], 1.0) ** 2 * size**2
    return noise


def effective_draws(draws: FloatArray) -> FloatArray:
    """S / τ̂, S draws in all, τ̂ = −1 + 2 Σ P̂_k over pairs of autocorrelations.

    Pairs P_k = ρ_2k + ρ_2k+1 are summed up to the first that is negative, and made to fall
    (Geyer 1992). Never more than S log₁₀ S, and S for a quantity that never varies.
    """
    n_chains, n_draws, _ = draws.shape
    n_all = n_chains * n_draws
    covariance = _autocovariance(draws).mean(axis=0)
    within = covariance[0] * n_draws / (n_draws - 1)
    total = within * (n_draws - 1) / n_draws
    if n_chains > 1:
        total = total + draws.mean(axis=1).var(axis=0, ddof=1)
    moving = total > _variance_noise(draws)
    correlation = 1 - (within - covariance) / np.where(moving, total, 1)
    correlation[0] = 1
    n_pairs = n_draws // 2
    pairs = correlation[: 2 * n_pairs].reshape(n_pairs, 2, -1).sum(axis=1)
    going_on = np.logical_and.accumulate(pairs > 0, axis=0)
    falling = np.minimum.accumulate(pairs, axis=0)
    tau = -1 + 2 * np.where(going_on, falling, 0).sum(axis=0)
    tau = np.maximum(tau, 1 / np.log10(n_all))
    return np.where(moving, n_all / tau, float(n_all))


def _autocovariance(draws: FloatArray) -> FloatArray:
    """Of each chain and quantity at every lag, divided by the number of draws; by FFT."""
    n_draws = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    size = next_fast_len(2 * n_draws, real=True)
    spectrum = rfft(centred, size, axis=1)
    power = spectrum.real**2 + spectrum.imag**2
    covariance: FloatArray = irfft(power, size, axis=1)[:, :n_draws] / n_draws
    return covariance
