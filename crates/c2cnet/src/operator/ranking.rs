//! How well bases represent a field: families in growing sizes, judged between the fitted points.

use super::between::Between;
use super::config::FitConfig;
use super::spaces::build;
use super::{Components, Observer};
use crate::basis::{BasisSpec, Ladder, ladders};
use crate::data::{Bounds, Dataset, Field, Observations};
use crate::decode::{Evaluation, FieldDecoder, choose_withheld};
use crate::encode::Transform;
use crate::metrics::mean_relative;
use crate::{Error, Result, linalg};
use faer::Mat;

/// Points at which bases are compared, at most: enough for the largest of them.
const POINTS: usize = 4096;

/// Samples with which representations are compared, at most.
const SAMPLES: usize = 100;

/// Input bases judged by the whole operator, at most.
const FINALISTS: usize = 6;

/// A size that lowers the error by less is no gain; rough fields gain little at each size.
const GAIN: f64 = 0.95;

/// A basis this much worse than another with as many functions will not catch up.
const HOPELESS: f64 = 5.0;

/// Families this close to the best are tried with other numbers of functions along the axes.
const CLOSE: f64 = 2.5;

/// More functions are not tried, smaller errors not sought.
#[derive(Debug, Clone, Copy)]
pub(super) struct Enough {
    pub(super) functions: usize,
    pub(super) error: f64,
}

/// A basis and how well it represents a field.
#[derive(Debug)]
pub(super) struct Ranked {
    pub(super) family: usize,
    pub(super) spec: BasisSpec,
    pub(super) functions: usize,
    /// At points that were not fitted.
    pub(super) error: f64,
    /// At those that were.
    pub(super) fitted: f64,
    /// Whether it is as good between the lines of a grid.
    pub(super) trusted: bool,
}

/// Tries families in growing sizes, and in the plane the better ones with more functions along one axis
/// than along the other.
///
/// `field` may have fewer points than the `whole`, which shows what a basis does between the lines of
/// a grid.
pub(super) fn rank(
    field: &Field,
    whole: &Field,
    domain: &Bounds,
    data: &Dataset,
    config: &FitConfig,
    enough: Enough,
    observer: &dyn Observer,
) -> Result<Vec<Ranked>> {
    let points = (0..field.samples().min(SAMPLES))
        .map(|k| field.points_of(k).len())
        .min()
        .expect("fields have samples");
    let few = field.select(&(0..field.samples().min(SAMPLES)).collect::<Vec<_>>());
    let between = Between::new(whole, few.samples());
    let families = ladders(domain, data.triangles.is_some(), config.seed);
    // Room for withheld points and for a regularised fit.
    let largest = (points * 2 / 3).min(enough.functions).max(1);
    let try_one = |family: usize, spec: Option<BasisSpec>| -> Result<Option<Ranked>> {
        if observer.cancelled() {
            return Err(Error::Interrupted);
        }
        // What cannot be built or fitted is no candidate.
        Ok(spec.and_then(|spec| {
            let (decoder, coordinates, errors) =
                represent(&spec, &few, domain, data, config).ok()?;
            let (error, fitted) = errors;
            let trusted = between
                .as_ref()
                .is_none_or(|b| b.trusts(&decoder, coordinates.as_ref(), error.max(enough.error)));
            Some(Ranked {
                family,
                spec,
                functions: decoder.basis().parts()[0].len(),
                error,
                fitted,
                trusted,
            })
        }))
    };
    let mut ranked: Vec<Ranked> = Vec::new();
    // The best error of each family and the size that has it.
    let mut bests = vec![(f64::INFINITY, 0); families.len()];
    for (f, family) in families.iter().enumerate() {
        let best = &mut bests[f];
        let (mut without_gain, mut last) = (0, 0);
        for size in Ladder::sizes(largest) {
            let Some(tried) = try_one(f, family.spec(size))? else {
                continue;
            };
            // A mesh may have no size between two others.
            if tried.functions == last {
                continue;
            }
            last = tried.functions;
            let rival = ranked
                .iter()
                .filter(|r| r.trusted && r.functions <= tried.functions)
                .map(|r| r.error)
                .fold(f64::INFINITY, f64::min);
            let (error, trusted) = (tried.error, tried.trusted);
            ranked.push(tried);
            without_gain = if trusted && error < GAIN * best.0 {
                0
            } else {
                without_gain + 1
            };
            if trusted && error < best.0 {
                *best = (error, size);
            }
            // Done, stuck, or hopelessly behind another family.
            if best.0 < 0.1 * enough.error
                || without_gain == 2
                || (size >= 64 && error > HOPELESS * rival)
            {
                break;
            }
        }
    }
    if ranked.is_empty() {
        return Err(Error::Data(format!(
            "no basis could be fitted to {points} points a sample; name one in the settings"
        )));
    }
    // Where none is trusted, the best of them has to do.
    let best = bests.iter().map(|b| b.0).fold(f64::INFINITY, f64::min);
    if domain.dim() != 2 || best < enough.error || best.is_infinite() {
        return Ok(trusted(ranked));
    }
    for (f, &(error, size)) in bests.iter().enumerate() {
        if error > CLOSE * best {
            continue;
        }
        // Away from equal numbers in the direction that helps, as long as it does.
        for step in [2.0, 0.5] {
            let (mut stretch, mut least) = (step, error);
            loop {
                let spec = families[f].stretched(size, stretch);
                let tried = try_one(f, spec)?.filter(|t| 10 * t.functions <= 11 * largest);
                let Some(tried) = tried else { break };
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
            if least < error {
                break;
            }
        }
    }
    Ok(trusted(ranked))
}

/// Those that are trusted, if there are any.
fn trusted(mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    if ranked.iter().any(|r| r.trusted) {
        ranked.retain(|r| r.trusted);
    }
    ranked
}

/// The best approximation at some points: its decoder and coordinates, its errors at the other points
/// and at those.
fn represent(
    spec: &BasisSpec,
    field: &Field,
    domain: &Bounds,
    data: &Dataset,
    config: &FitConfig,
) -> Result<(FieldDecoder, Mat<f64>, (f64, f64))> {
    let basis = build(
        &[spec],
        Components::Separate,
        domain,
        field,
        data.triangles.as_deref(),
        Transform::None,
    )?;
    let withhold = config.withhold.max(0.1);
    let (decoder, targets) = FieldDecoder::fit(basis, field, withhold, None, config.seed)?;
    let errors = match targets.withheld_floor {
        Some(error) => (error, targets.floor()),
        // Per-sample points: coordinates fitted at some of a sample's points, judged at all.
        None if field.shared_points().is_none() => {
            let evaluation = Evaluation::new(&decoder, field)?;
            let errors = evaluation.errors_squared(targets.coordinates.as_ref());
            let error = mean_relative(&errors, &evaluation.norm_squared);
            (error, error)
        }
        None => return Err(Error::Data("no point could be withheld".into())),
    };
    Ok((decoder, targets.coordinates, errors))
}

/// The fewest functions whose error is negligible or close to the best, and that fit the points
/// nearly as well as others do: where few points hide how much better a basis is between them, the
/// points themselves tell. (Noise does not mislead: two thirds as many functions as points leave more
/// than half of it.)
pub(super) fn smallest_good_enough(ranked: &[Ranked], negligible: f64) -> usize {
    let best = ranked.iter().map(|r| r.error).fold(f64::INFINITY, f64::min);
    let enough = negligible.max(1.1 * best);
    let close = (0..ranked.len()).filter(|&i| ranked[i].error <= enough);
    let fitted = close.clone().map(|i| ranked[i].fitted);
    let enough = negligible.max(2.0 * fitted.fold(f64::INFINITY, f64::min));
    close
        .filter(|&i| ranked[i].fitted <= enough)
        .min_by(|&i, &j| {
            let key = |r: &Ranked| (r.functions, r.error);
            let (a, b) = (key(&ranked[i]), key(&ranked[j]));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
        .expect("one of them fits best")
}

/// For each family its best size and the smallest one nearly as good; the best of all these.
pub(super) fn finalists(ranked: &[Ranked]) -> Vec<usize> {
    let mut chosen = Vec::new();
    let mut families: Vec<usize> = ranked.iter().map(|r| r.family).collect();
    families.sort_unstable();
    families.dedup();
    for family in families {
        let members: Vec<usize> = (0..ranked.len())
            .filter(|&i| ranked[i].family == family)
            .collect();
        let best = members
            .iter()
            .copied()
            .min_by(|&i, &j| ranked[i].error.total_cmp(&ranked[j].error))
            .expect("families here have members");
        let small = members
            .iter()
            .copied()
            .find(|&i| ranked[i].error <= 1.5 * ranked[best].error)
            .unwrap_or(best);
        chosen.push(best);
        if small != best {
            chosen.push(small);
        }
    }
    chosen.sort_by(|&i, &j| ranked[i].error.total_cmp(&ranked[j].error));
    chosen.truncate(FINALISTS);
    chosen
}

/// Fewer points, where there are more than a comparison needs.
pub(super) fn thinned(data: &Dataset, seed: u64) -> Result<Dataset> {
    let thin = |field: &Field| -> Result<Field> {
        match field.observations() {
            Observations::Shared { points, values } if points.len() > 2 * POINTS => {
                // The complement of a withheld set keeps the faces of the bounding box.
                let mut kept: Vec<usize> = (0..points.len()).collect();
                while kept.len() > POINTS {
                    let current = points.select(&kept);
                    let excess = 1.0 - POINTS as f64 / kept.len() as f64;
                    let drop = choose_withheld(&current, excess.min(0.5), seed);
                    if drop.is_empty() {
                        break;
                    }
                    let mut gone = vec![false; kept.len()];
                    drop.iter().for_each(|&i| gone[i] = true);
                    kept = (0..kept.len())
                        .filter(|&i| !gone[i])
                        .map(|i| kept[i])
                        .collect();
                }
                let values = values
                    .iter()
                    .map(|v| linalg::select_rows(v.as_ref(), &kept))
                    .collect();
                Field::shared(points.select(&kept), values)
            }
            _ => Ok(field.clone()),
        }
    };
    let all = |fields: &[(String, Field)]| {
        fields
            .iter()
            .map(|(name, field)| Ok((name.clone(), thin(field)?)))
            .collect::<Result<Vec<_>>>()
    };
    let outputs = all(&data.outputs)?;
    let same_points = outputs
        .first()
        .zip(data.outputs.first())
        .is_some_and(|(a, b)| a.1.points_of(0).len() == b.1.points_of(0).len());
    Ok(Dataset {
        inputs: all(&data.inputs)?,
        outputs,
        n_train: None,
        split: None,
        triangles: data.triangles.clone().filter(|_| same_points),
        meta: data.meta.clone(),
    })
}

pub(super) fn name_of(spec: &BasisSpec) -> String {
    let value = serde_json::to_value(spec).unwrap_or_default();
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_string();
    format!("{} {}", text("kind"), text("family"))
        .trim()
        .to_string()
}

pub(super) fn explain(
    kind: &str,
    name: &str,
    ranked: &[Ranked],
    chosen: usize,
    what: &str,
) -> String {
    let pick = &ranked[chosen];
    let runner_up = ranked
        .iter()
        .filter(|r| r.family != pick.family)
        .min_by(|a, b| a.error.total_cmp(&b.error));
    let other = runner_up.map_or(String::new(), |r| {
        format!(
            " (best of another family: {} {}, {:.1e})",
            r.functions,
            name_of(&r.spec),
            r.error
        )
    });
    let label = if name.is_empty() {
        String::new()
    } else {
        format!(" {name:?}")
    };
    let doubt = match pick.trusted {
        true => "",
        false => "; it may run wild between the lines of the grid, as all that were tried",
    };
    format!(
        "{kind}{label} basis searched: {} {}, {what} at withheld points {:.1e}{other}{doubt}",
        pick.functions,
        name_of(&pick.spec),
        pick.error
    )
}

#[cfg(test)]
mod tests {
    use super::super::Silent;
    use super::*;
    use crate::data::Points;

    #[test]
    fn few_functions_are_enough_where_more_fit_no_better() {
        let ranked = |pairs: &[(usize, f64, f64)]| -> Vec<Ranked> {
            let spec = BasisSpec::from(crate::basis::PointValuesSpec::default());
            let one = |&(functions, error, fitted)| Ranked {
                family: 0,
                spec: spec.clone(),
                functions,
                error,
                fitted,
                trusted: true,
            };
            pairs.iter().map(one).collect()
        };
        // Noise: more functions follow it a little better at the points and worse between them.
        let noisy = ranked(&[
            (8, 0.5, 0.5),
            (16, 0.101, 0.098),
            (32, 0.1, 0.09),
            (64, 0.11, 0.07),
        ]);
        assert_eq!(smallest_good_enough(&noisy, 1e-5), 1);
        // Few points: between them the gain is hidden, at them it shows.
        let rough = ranked(&[(64, 5e-2, 2e-2), (128, 2.9e-2, 7e-3), (256, 2.7e-2, 1e-3)]);
        assert_eq!(smallest_good_enough(&rough, 1e-5), 2);
        // As good as exact is good enough.
        assert_eq!(smallest_good_enough(&rough, 6e-2), 0);
    }

    #[test]
    fn untrusted_bases_are_a_last_resort() {
        let one = |error, trusted| Ranked {
            family: 0,
            spec: BasisSpec::from(crate::basis::PointValuesSpec::default()),
            functions: 8,
            error,
            fitted: error,
            trusted,
        };
        let errors =
            |ranked: Vec<Ranked>| -> Vec<f64> { trusted(ranked).iter().map(|r| r.error).collect() };
        assert_eq!(errors(vec![one(0.1, false), one(0.2, true)]), [0.2]);
        let doubtful = vec![one(0.1, false), one(0.2, false)];
        assert!(explain("output", "", &doubtful, 0, "floor").contains("may run wild"));
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

    fn ranked_for(field: &Field) -> Vec<Ranked> {
        let data = Dataset::new(field.clone(), field.clone()).unwrap();
        let (domain, config) = (Bounds::unit(2), FitConfig::default());
        let enough = Enough {
            functions: 256,
            error: 1e-5,
        };
        rank(field, field, &domain, &data, &config, enough, &Silent).unwrap()
    }

    #[test]
    fn functions_go_where_the_field_is_rough() {
        let ranked = ranked_for(&kinks(&[41, 41]));
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

    /// Single withheld points of a grid do not see between its lines; a search must not use that.
    #[test]
    fn the_basis_found_is_as_good_between_the_lines_of_a_grid() {
        let (grid, finer) = (kinks(&[41, 41]), kinks(&[81, 81]));
        let ranked = ranked_for(&grid);
        let chosen = &ranked[smallest_good_enough(&ranked, 1e-5)];
        let domain = Bounds::unit(2);
        let (components, transform) = (Components::Separate, Transform::None);
        let basis = build(&[&chosen.spec], components, &domain, &grid, None, transform).unwrap();
        let (decoder, targets) = FieldDecoder::fit(basis, &grid, 0.1, None, 0).unwrap();
        let evaluation = Evaluation::new(&decoder, &finer).unwrap();
        let errors = evaluation.errors_squared(targets.coordinates.as_ref());
        let between = mean_relative(&errors, &evaluation.norm_squared);
        assert!(
            between < 2.0 * chosen.error,
            "{between} against {}",
            chosen.error
        );
    }
}
