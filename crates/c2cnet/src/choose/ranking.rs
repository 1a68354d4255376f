//! How well bases represent a field: families in growing sizes, judged between the fitted points.

use super::few_readings::FewReadings;
use super::grid_gap::GridGapCheck;
use super::thinning::spread_over;
use super::words::functions_of;
use crate::basis::{BasisSpec, Ladder, ladders};
use crate::data::{Bounds, Field};
use crate::error::in_order;
use crate::fit::Context;
use crate::{Error, Result};
use rayon::prelude::*;
use representation::Represented;

mod preference;
mod representation;

use preference::smallest_good_enough;
pub(super) use preference::{finalists, why_this_basis};

/// The total number of points with which representations are compared if samples have their own points: each sample
/// needs a factorisation.
const OWN_POINTS_IN_ALL: usize = 12_000;

/// The most samples with which representations are compared.
const SAMPLES: usize = 100;

/// A size that lowers the error by less gains nothing; rough fields gain little at each size.
const GAIN: f64 = 0.95;

/// A basis this much worse than another with as many functions will not catch up.
const HOPELESS_FACTOR: f64 = 5.0;

/// Families this close to the best are tried with other numbers of functions along the axes.
const CLOSE_FACTOR: f64 = 2.5;

/// The search ends at this many functions or at this error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopRule {
    pub functions: usize,
    pub error: f64,
}

/// A basis and how well it represents a field.
#[derive(Debug)]
pub(crate) struct Ranked {
    pub family: usize,
    pub spec: BasisSpec,
    pub functions: usize,
    /// The number of coordinates kept, over all components.
    pub rank: usize,
    /// The error it is judged by: the larger of the two below, since no basis is better between its points than at them.
    pub error: f64,
    /// The error at withheld points.
    pub withheld: f64,
    /// The error at fitted points.
    pub fitted: f64,
    /// The relative cut of singular values with the smallest error between the points.
    pub cut: f64,
    /// Whether it is equally good between the lines of a grid.
    pub trusted: bool,
}

impl Ranked {
    /// The functions, in words.
    pub(crate) fn family_name(&self) -> String {
        functions_of(&self.spec)
    }
}

/// The comparison of bases for one field.
pub(crate) struct Ranking<'a> {
    /// Some samples of the field.
    few: Field,
    gaps: Option<GridGapCheck>,
    triangles: Option<&'a [[usize; 3]]>,
    context: &'a Context<'a>,
    stop: StopRule,
    /// The fewest points that a sample has.
    points: usize,
    /// The comparison to use instead if these are too few to fit each sample.
    few_readings: Option<FewReadings>,
}

/// The smallest error of a ladder so far, and the size that has it.
#[derive(Debug, Clone, Copy)]
struct Best {
    error: f64,
    size: usize,
}

/// The progress on a ladder.
#[derive(Debug, Clone)]
struct Climber {
    best: Best,
    without_gain: usize,
    /// The number of functions that was tried last.
    last: usize,
    done: bool,
}

impl Default for Climber {
    fn default() -> Self {
        Climber {
            best: Best {
                error: f64::INFINITY,
                size: 0,
            },
            without_gain: 0,
            last: 0,
            done: false,
        }
    }
}

impl Climber {
    /// Records a step to `size`, where the best of all families with the same number of functions has the error `rival`.
    fn step(&mut self, size: usize, tried: &Ranked, rival: f64, enough: f64) {
        self.last = tried.functions;
        let gains = tried.trusted && tried.error < GAIN * self.best.error;
        self.without_gain = if gains { 0 } else { self.without_gain + 1 };
        if tried.trusted && tried.error < self.best.error {
            self.best = Best {
                error: tried.error,
                size,
            };
        }
        // Done, stuck, or hopelessly behind another family.
        self.done = self.best.error < 0.1 * enough
            || self.without_gain == 2
            || (size >= 64 && tried.error > HOPELESS_FACTOR * rival);
    }
}

impl<'a> Ranking<'a> {
    /// `field` may have fewer points than the `whole`, which shows what a basis does between the lines of
    /// a grid.
    pub(crate) fn new(
        field: &Field,
        whole: &Field,
        triangles: Option<&'a [[usize; 3]]>,
        context: &'a Context<'a>,
        stop: StopRule,
    ) -> Result<Self> {
        let affordable = match field.shared_points() {
            Some(_) => SAMPLES,
            None => (OWN_POINTS_IN_ALL / field.points_of(0).len().max(1)).clamp(16, SAMPLES),
        };
        let few = spread_over(field.samples(), field.samples().min(affordable));
        let points = few.iter().map(|&k| field.points_of(k).len()).min();
        // The samples of `field` are themselves spread over the whole.
        let spread = spread_over(whole.samples(), field.samples());
        let of_whole: Vec<usize> = few.iter().map(|&k| spread[k]).collect();
        Ok(Ranking {
            few: field.select(&few),
            gaps: GridGapCheck::new(whole, &of_whole),
            triangles,
            context,
            stop,
            points: points.ok_or_else(|| Error::Data("the data has no samples".into()))?,
            few_readings: None,
        })
    }

    /// The same, with all samples judged together.
    pub(super) fn by_all_samples(self, few_readings: FewReadings) -> Self {
        Ranking {
            few_readings: Some(few_readings),
            ..self
        }
    }

    /// The largest basis to try, which leaves points to withhold and freedom for a regularised fit.
    fn largest(&self) -> usize {
        let most = match &self.few_readings {
            Some(few) => few.largest(),
            None => self.points * 2 / 3,
        };
        most.min(self.stop.functions).max(1)
    }

    /// Tries families in growing sizes, and in the plane the better ones with more functions along one axis
    /// than along the other. Returns them, and the one to take.
    pub(crate) fn climb(&self, domain: &Bounds) -> Result<(Vec<Ranked>, usize)> {
        let seed = self.context.protocol.seed;
        let ladders = ladders(domain, self.triangles.is_some(), seed);
        let (mut ranked, bests) = self.climb_together(&ladders, domain)?;
        let best = bests.iter().map(|b| b.error).fold(f64::INFINITY, f64::min);
        // If none is trusted, the best one has to do.
        if domain.dim() == 2 && best >= self.stop.error && best.is_finite() {
            let near: Vec<usize> = (0..bests.len())
                .filter(|&f| bests[f].error <= CLOSE_FACTOR * best)
                .collect();
            let stretched = near.par_iter();
            let stretched = stretched.map(|&f| self.stretch(f, &ladders[f], bests[f], domain));
            ranked.extend(in_order(stretched)?.into_iter().flatten());
        }
        let ranked = trusted(ranked);
        match smallest_good_enough(&ranked, self.stop.error) {
            Some(chosen) => Ok((ranked, chosen)),
            None => Err(Error::Data(format!(
                "no basis could be fitted to {} points per sample; name one in the settings",
                self.points
            ))),
        }
    }

    /// Climbs all ladders, equal sizes in parallel; returns all bases, family by family, and the best of each family.
    fn climb_together(
        &self,
        ladders: &[Ladder],
        domain: &Bounds,
    ) -> Result<(Vec<Ranked>, Vec<Best>)> {
        let mut ranked: Vec<Ranked> = Vec::new();
        let mut climbers = vec![Climber::default(); ladders.len()];
        for size in Ladder::sizes(self.largest()) {
            let climbing: Vec<usize> = (0..ladders.len()).filter(|&f| !climbers[f].done).collect();
            let tried = climbing.par_iter().map(|&f| {
                let spec = ladders[f].spec(size);
                self.try_one(f, spec, domain)
            });
            let tried: Vec<Ranked> = in_order(tried)?.into_iter().flatten().collect();
            // A mesh may have no size between two others.
            let new = tried.into_iter();
            let new = new.filter(|t| t.functions != climbers[t.family].last);
            let first = ranked.len();
            ranked.extend(new);
            for tried in &ranked[first..] {
                let rival = ranked
                    .iter()
                    .filter(|r| r.trusted && r.functions <= tried.functions)
                    .map(|r| r.error)
                    .fold(f64::INFINITY, f64::min);
                climbers[tried.family].step(size, tried, rival, self.stop.error);
            }
        }
        ranked.sort_by_key(|r| r.family);
        Ok((ranked, climbers.into_iter().map(|c| c.best).collect()))
    }

    /// Moves away from equal numbers along the axes in the direction that helps, for as long as it does.
    fn stretch(
        &self,
        f: usize,
        ladder: &Ladder,
        near: Best,
        domain: &Bounds,
    ) -> Result<Vec<Ranked>> {
        let mut ranked = Vec::new();
        for step in [2.0, 0.5] {
            let (mut stretch, mut least) = (step, near.error);
            loop {
                let spec = ladder.stretched(near.size, stretch);
                let tried = self.try_one(f, spec, domain)?;
                let Some(tried) = tried.filter(|t| 10 * t.functions <= 11 * self.largest()) else {
                    break;
                };
                let better = tried.trusted && tried.error < GAIN * least;
                if tried.trusted {
                    least = least.min(tried.error);
                }
                ranked.push(tried);
                if !better {
                    break;
                }
                stretch *= step;
            }
            if least < near.error {
                break;
            }
        }
        Ok(ranked)
    }

    /// How well one basis represents the field, `None` if it cannot be built or fitted.
    pub(crate) fn try_spec(&self, spec: BasisSpec, domain: &Bounds) -> Result<Option<Ranked>> {
        self.try_one(usize::MAX, Some(spec), domain)
    }

    /// A basis that cannot be built or fitted is not a candidate.
    fn try_one(
        &self,
        family: usize,
        spec: Option<BasisSpec>,
        domain: &Bounds,
    ) -> Result<Option<Ranked>> {
        self.context.check_cancelled()?;
        Ok(spec.and_then(|spec| {
            let represented = self.represent(&spec, domain).ok()?;
            // Errors that overflow cannot be compared.
            if represented.withheld.is_nan() || represented.fitted.is_nan() {
                return None;
            }
            let tolerance = represented.withheld.max(self.stop.error);
            let Represented {
                decoder,
                coordinates,
                withheld,
                fitted,
            } = represented;
            let trusted = self
                .gaps
                .as_ref()
                .is_none_or(|gaps| gaps.trusts(&decoder, coordinates.as_ref(), tolerance));
            Some(Ranked {
                family,
                spec,
                functions: decoder.basis().parts()[0].len(),
                rank: decoder.rank(),
                error: withheld.max(fitted),
                withheld,
                fitted,
                cut: decoder.cuts().iter().copied().fold(0.0, f64::max),
                trusted,
            })
        }))
    }
}

/// The trusted ones, if there are any.
fn trusted(mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    if ranked.iter().any(|r| r.trusted) {
        ranked.retain(|r| r.trusted);
    }
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::data::{Dataset, Points};
    use crate::decode::{Evaluation, FieldDecoder, Withheld};
    use crate::encode::Transform;
    use crate::fit::{FieldSpace, LearnFrom};
    use crate::metrics::mean_relative;
    use crate::plan::Components;
    use crate::settings::FitConfig;
    use faer::Mat;

    #[test]
    fn untrusted_bases_are_a_last_resort() {
        let one = |error, trusted| Ranked {
            family: 0,
            spec: BasisSpec::from(crate::basis::PointValuesSpec::default()),
            functions: 8,
            rank: 8,
            error,
            withheld: error,
            fitted: error,
            cut: 0.0,
            trusted,
        };
        let errors =
            |ranked: Vec<Ranked>| -> Vec<f64> { trusted(ranked).iter().map(|r| r.error).collect() };
        assert_eq!(errors(vec![one(0.1, false), one(0.2, true)]), [0.2]);
        let doubtful = vec![one(0.1, false), one(0.2, false)];
        assert!(why_this_basis(&doubtful, 0, "floor", 1e-5).contains("may oscillate"));
        assert_eq!(errors(doubtful), [0.1, 0.2]);
    }

    /// Functions with a kink across the first axis, smooth along the second.
    fn kinks(counts: &[usize]) -> Field {
        let points = Points::grid(&Bounds::unit(2), counts);
        let values = Mat::from_fn(points.len(), 12, |i, k| {
            let (p, kink) = (points.point(i), 0.3 + 0.03 * k as f64);
            (p[0] - kink).abs() * (p[1] * p[1]).cos()
        });
        Field::shared(points, vec![values]).unwrap()
    }

    fn try_ranking(field: &Field) -> Result<(Vec<Ranked>, usize)> {
        let data = Dataset::new(field.clone(), field.clone()).unwrap();
        let context = Context::new(&data, FitConfig::default().protocol(), &Silent);
        let stop = StopRule {
            functions: 256,
            error: 1e-5,
        };
        let ranking = Ranking::new(field, field, None, &context, stop).unwrap();
        ranking.climb(&Bounds::unit(2))
    }

    /// Squares of values as large as these are infinite, and errors relative to them are NaN.
    #[test]
    fn bases_without_an_error_are_no_candidates() {
        let points = Points::grid(&Bounds::unit(2), &[9, 9]);
        let values = Mat::from_fn(81, 12, |i, k| 1e200 * (points.point(i)[0] + k as f64).sin());
        let field = Field::shared(points, vec![values]).unwrap();
        let message = try_ranking(&field).unwrap_err().to_string();
        assert!(message.contains("no basis could be fitted"), "{message}");
    }

    #[test]
    fn functions_go_where_the_field_is_rough() {
        let (ranked, _) = try_ranking(&kinks(&[41, 41])).unwrap();
        let best = |elements: &dyn Fn(&serde_json::Value) -> bool| {
            ranked
                .iter()
                .filter(|r| {
                    let spec = serde_json::to_value(&r.spec).unwrap();
                    r.functions <= 300 && spec["family"] == "finite-elements" && elements(&spec)
                })
                .map(|r| r.error)
                .fold(f64::INFINITY, f64::min)
        };
        let square = best(&|spec| spec["mesh"] == "box");
        let stretched = best(&|spec| {
            let cells = &spec["mesh"]["cells"];
            cells[0].as_u64() > cells[1].as_u64()
        });
        assert!(stretched < 0.7 * square, "{stretched} against {square}");
    }

    /// Single withheld points of a grid do not show what happens between its lines; a search must not exploit that.
    #[test]
    fn the_basis_found_is_as_good_between_the_lines_of_a_grid() {
        let (grid, finer) = (kinks(&[41, 41]), kinks(&[81, 81]));
        let (ranked, chosen) = try_ranking(&grid).unwrap();
        let chosen = &ranked[chosen];
        let space = FieldSpace {
            bases: std::slice::from_ref(&chosen.spec),
            components: Components::Separate,
            domain: &Bounds::unit(2),
            transform: Transform::None,
        };
        let basis = space
            .build(
                &grid,
                None,
                &LearnFrom {
                    samples: None,
                    withheld: &Withheld::none(),
                },
            )
            .unwrap();
        let (decoder, targets) =
            FieldDecoder::fit(basis, &grid, &Withheld::choose(&grid, 0.1, 0), &[], 0).unwrap();
        let evaluation = Evaluation::new(&decoder, &finer, &Withheld::none()).unwrap();
        let errors = evaluation.errors_squared(targets.coordinates.as_ref());
        let between = mean_relative(&errors, &evaluation.norm_squared);
        assert!(
            between < 2.0 * chosen.error,
            "{between} against {}",
            chosen.error
        );
    }
}
