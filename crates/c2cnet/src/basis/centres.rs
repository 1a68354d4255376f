//! Where radial functions sit and how wide they are.

use crate::data::{Bounds, Points};
use crate::{Error, Result};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Where the centres of radial functions lie.
///
/// In settings: `"grid"`, `"scattered"`, `"data"`, or
/// `{ boxes = [{ bounds = [[-1.75, 1.75], [-1.75, 1.75]], fraction = 0.75 }, {}] }`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Centres {
    /// An equally spaced grid of at most `functions` points, walls included, its counts as
    /// proportional to the sides as whole numbers allow.
    #[default]
    Grid,
    /// Independent draws, uniform on the domain.
    Scattered,
    /// A draw without repetition from the points shared by all training samples.
    Data,
    /// Independent draws, uniform on each of several boxes (the prior-aware draw of the paper's
    /// Stokes appendix): box $b$ gets $\lfloor f_b m\rfloor$ centres, the last box the remainder.
    Boxes(Vec<CentreBox>),
}

/// One box of [`Centres::Boxes`].
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `bounds` | the domain | where the centres lie | a box that meets the domain |
/// | `fraction` | the remainder | the share of all centres, $f$ | between 0 and 1; none for the last box |
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CentreBox {
    /// The box; the whole domain if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// The share of the centres; for every box but the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
}

/// How wide radial functions are: a number, an interval `[min, max]`, or `{ spacing = factor }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "width must be a number, an interval [min, max] or { spacing = factor }"
)]
pub enum Width {
    /// The same for all.
    Fixed(f64),
    /// Drawn uniformly and independently from an interval.
    Interval([f64; 2]),
    /// In proportion to the distance from the neighbouring centres.
    Spacing(Spacing),
}

/// Widths $s_j = \text{spacing}\cdot h_j$ with $h_j$ the mean distance from centre $j$ to the $2d$
/// nearest others (inside a grid with equal steps, the step).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spacing {
    /// The factor.
    pub spacing: f64,
}

impl Centres {
    /// Places `functions` centres, or somewhat fewer on a grid.
    pub(super) fn place(
        &self,
        domain: &Bounds,
        functions: usize,
        data: Option<&Points>,
        rng: &mut ChaCha8Rng,
    ) -> Result<Points> {
        match self {
            Centres::Grid => Points::new(domain.dim(), grid(domain, functions)),
            Centres::Scattered => {
                let mut coords = Vec::with_capacity(functions * domain.dim());
                draw(domain, functions, rng, &mut coords);
                Points::new(domain.dim(), coords)
            }
            Centres::Data => choose(domain, functions, data, rng),
            Centres::Boxes(boxes) => {
                let mut coords = Vec::with_capacity(functions * domain.dim());
                for (bounds, count) in shares(boxes, domain, functions)? {
                    draw(bounds, count, rng, &mut coords);
                }
                Points::new(domain.dim(), coords)
            }
        }
    }
}

impl Width {
    /// One width a centre.
    pub(super) fn draw(
        &self,
        centres: &Points,
        domain: &Bounds,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<f64>> {
        // Narrower than rounding of the coordinates: the function would be one point's.
        let least = 1e-9 * diagonal(domain);
        let usable = |s: f64| s.is_finite() && s > 0.0 && s >= least;
        let wrong = |written: String| {
            Error::Config(format!(
                "radial: width = {written} must be finite, positive and at least {least:e} (1e-9 \
                 of the domain's diagonal)"
            ))
        };
        match *self {
            Width::Fixed(s) if usable(s) => Ok(vec![s; centres.len()]),
            Width::Fixed(s) => Err(wrong(s.to_string())),
            Width::Interval([min, max]) if usable(min) && usable(max) && min <= max => Ok((0
                ..centres.len())
                .map(|_| min + (max - min) * rng.random::<f64>())
                .collect()),
            Width::Interval([min, max]) if usable(min) && usable(max) => {
                Err(Error::Config(format!(
                    "radial: width = [{min}, {max}] has its ends reversed; write [{max}, {min}]"
                )))
            }
            Width::Interval([min, max]) => Err(wrong(format!("[{min}, {max}]"))),
            Width::Spacing(Spacing { spacing }) => {
                let widths: Vec<f64> = spacings(centres, domain)
                    .into_iter()
                    .map(|h| spacing * h)
                    .collect();
                match widths.iter().find(|&&s| !usable(s)) {
                    None => Ok(widths),
                    Some(s) => Err(wrong(format!(
                        "{{ spacing = {spacing} }}, which gives {s},"
                    ))),
                }
            }
        }
    }
}

/// Coordinates of a grid of at most `functions` points.
fn grid(domain: &Bounds, functions: usize) -> Vec<f64> {
    let dim = domain.dim();
    let mut counts = vec![1usize; dim];
    // One more point along the axis with the widest steps, as long as there is room.
    loop {
        let step = |k: usize| domain.width(k) / counts[k] as f64;
        let widest = (1..dim).fold(0, |best, k| if step(k) > step(best) { k } else { best });
        let total: usize = counts.iter().product();
        if domain.width(widest) == 0.0 || total / counts[widest] * (counts[widest] + 1) > functions
        {
            break;
        }
        counts[widest] += 1;
    }
    let total: usize = counts.iter().product();
    let mut coords = vec![0.0; total * dim];
    for (j, centre) in coords.chunks_exact_mut(dim).enumerate() {
        let mut rest = j;
        for k in (0..dim).rev() {
            // A lone point goes in the middle rather than on a wall.
            let t = match counts[k] {
                1 => 0.5,
                n => (rest % n) as f64 / (n - 1) as f64,
            };
            centre[k] = domain.lower(k) + t * domain.width(k);
            rest /= counts[k];
        }
    }
    coords
}

fn draw(bounds: &Bounds, count: usize, rng: &mut ChaCha8Rng, coords: &mut Vec<f64>) {
    for _ in 0..count {
        for k in 0..bounds.dim() {
            coords.push(bounds.lower(k) + bounds.width(k) * rng.random::<f64>());
        }
    }
}

fn choose(
    domain: &Bounds,
    functions: usize,
    data: Option<&Points>,
    rng: &mut ChaCha8Rng,
) -> Result<Points> {
    let Some(points) = data else {
        return Err(Error::Config(
            "radial: centres = \"data\" needs points shared by all training samples, and there \
             are none; use \"grid\", \"scattered\" or boxes"
                .into(),
        ));
    };
    domain.check(points, "radial")?;
    if functions > points.len() {
        return Err(Error::Config(format!(
            "radial: {functions} centres cannot be chosen from {} data points; ask for fewer \
             functions or use \"scattered\"",
            points.len()
        )));
    }
    // The first steps of a Fisher-Yates shuffle.
    let mut order: Vec<usize> = (0..points.len()).collect();
    for i in 0..functions {
        order.swap(i, rng.random_range(i..points.len()));
    }
    Ok(points.select(&order[..functions]))
}

/// How many centres each box gets.
fn shares<'a>(
    boxes: &'a [CentreBox],
    domain: &'a Bounds,
    functions: usize,
) -> Result<Vec<(&'a Bounds, usize)>> {
    let wrong = |b: usize, what: String| {
        let count = boxes.len();
        Error::Config(format!(
            "radial: box {} of {count} of centres {what}",
            b + 1
        ))
    };
    let Some(last) = boxes.len().checked_sub(1) else {
        return Err(Error::Config(
            "radial: the list of boxes of centres is empty; give at least one, or \"scattered\""
                .into(),
        ));
    };
    let mut left = functions;
    let mut shares = Vec::with_capacity(boxes.len());
    for (b, one) in boxes.iter().enumerate() {
        let bounds = one.bounds.as_ref().unwrap_or(domain);
        if bounds.dim() != domain.dim() {
            let (found, dim) = (bounds.dim(), domain.dim());
            return Err(wrong(b, format!("has {found} sides, the domain has {dim}")));
        }
        let meets = (0..domain.dim())
            .all(|k| bounds.lower(k) <= domain.upper(k) && bounds.upper(k) >= domain.lower(k));
        if !meets {
            return Err(wrong(
                b,
                format!("is {bounds}, outside the domain {domain}"),
            ));
        }
        let count = match one.fraction {
            None if b == last => left,
            None => return Err(wrong(b, "needs a fraction; only the last has none".into())),
            Some(f) if b == last => {
                let what = format!("takes what the others leave; remove its fraction = {f}");
                return Err(wrong(b, what));
            }
            Some(f) if f > 0.0 && f < 1.0 => {
                // So that 0.29 of 100 is 29 in spite of rounding.
                let count = (f * functions as f64 + 1e-9).floor() as usize;
                if count > left {
                    let what = format!("asks for {count} centres where {left} are left");
                    return Err(wrong(b, what));
                }
                count
            }
            Some(f) => {
                return Err(wrong(
                    b,
                    format!("has fraction = {f}; it must lie between 0 and 1"),
                ));
            }
        };
        if count == 0 {
            let what = format!("gets none of the {functions} centres; remove it or ask for more");
            return Err(wrong(b, what));
        }
        left -= count;
        shares.push((bounds, count));
    }
    Ok(shares)
}

fn diagonal(domain: &Bounds) -> f64 {
    (0..domain.dim())
        .map(|k| domain.width(k).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// The mean distance from each centre to its $2d$ nearest others.
///
/// Others that coincide with it are left out; a centre without others has the domain's diagonal.
fn spacings(centres: &Points, domain: &Bounds) -> Vec<f64> {
    let whole = match diagonal(domain) {
        0.0 => 1.0,
        diagonal => diagonal,
    };
    (0..centres.len())
        .into_par_iter()
        .map(|j| {
            let mut distances: Vec<f64> = centres
                .iter()
                .map(|c| distance_squared(c, centres.point(j)).sqrt())
                .filter(|&r| r > 1e-9 * whole)
                .collect();
            let few = distances.len().min(2 * centres.dim());
            if few == 0 {
                return whole;
            }
            distances.select_nth_unstable_by(few - 1, f64::total_cmp);
            // Sorted, so that the sum does not depend on the selection's order.
            distances[..few].sort_by(f64::total_cmp);
            distances[..few].iter().sum::<f64>() / few as f64
        })
        .collect()
}

/// $\|x - y\|_2^2$
pub(super) fn distance_squared(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum()
}
