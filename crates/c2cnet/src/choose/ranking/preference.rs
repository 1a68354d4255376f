//! Which of the ranked bases to take, and why, in words.

use super::Ranked;
use crate::choose::words::{functions_of, with_count};
use std::collections::BTreeMap;

/// At most this many input bases are judged by the whole operator.
const FINALISTS: usize = 6;

/// The smallest basis whose error is negligible or close to the best, and that fits the points nearly as
/// well as others do; `None` if there is none at all. Where too few points are withheld to show how much better a basis is between them, the
/// fitted points show it. (Noise does not mislead: two thirds as many functions as points leave more
/// than half of it.)
pub(in crate::choose) fn smallest_good_enough(ranked: &[Ranked], negligible: f64) -> Option<usize> {
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
}

/// For each family its best size and the smallest one that is nearly as good; of these, the best ones.
pub(in crate::choose) fn finalists(ranked: &[Ranked]) -> Vec<usize> {
    let mut best_of = BTreeMap::new();
    for (i, tried) in ranked.iter().enumerate() {
        let best = best_of.entry(tried.family).or_insert(i);
        if tried.error.total_cmp(&ranked[*best].error).is_lt() {
            *best = i;
        }
    }
    let mut chosen = Vec::new();
    for (family, best) in best_of {
        let mut members = (0..ranked.len()).filter(|&i| ranked[i].family == family);
        let small = members.find(|&i| ranked[i].error <= 1.5 * ranked[best].error);
        chosen.push(best);
        chosen.extend(small.filter(|&small| small != best));
    }
    chosen.sort_by(|&i, &j| ranked[i].error.total_cmp(&ranked[j].error));
    chosen.truncate(FINALISTS);
    chosen
}

/// Why [`smallest_good_enough`] took a basis: its error, the rule if it is not the lowest, the best of another family, and
/// any doubt.
pub(in crate::choose) fn why_this_basis(
    ranked: &[Ranked],
    chosen: usize,
    what: &str,
    negligible: f64,
) -> String {
    let pick = &ranked[chosen];
    let name = functions_of(&pick.spec);
    let runner_up = ranked
        .iter()
        .filter(|r| functions_of(&r.spec) != name)
        .min_by(|a, b| a.error.total_cmp(&b.error));
    let best = ranked.iter().map(|r| r.error).fold(f64::INFINITY, f64::min);
    let rule = match pick.error {
        e if e <= negligible => {
            format!(
                ", the smallest basis with an error below {negligible:.0e}, which is small enough"
            )
        }
        e if e > best => ", the smallest basis within 10 % of the lowest error".into(),
        _ => String::new(),
    };
    let other = runner_up.map_or(String::new(), |r| {
        let functions = with_count(r.functions, &r.spec);
        format!(" (best of another family: {functions}, {:.1e})", r.error)
    });
    let doubt = match pick.trusted {
        true => "",
        false => "; it may oscillate between the lines of the grid, as did every basis tried",
    };
    format!("{what} {:.1e}{rule}{other}{doubt}", pick.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_functions_are_enough_where_more_fit_no_better() {
        let ranked = |pairs: &[(usize, f64, f64)]| -> Vec<Ranked> {
            let spec = crate::basis::BasisSpec::from(crate::basis::PointValuesSpec::default());
            let one = |&(functions, error, fitted)| Ranked {
                family: 0,
                spec: spec.clone(),
                functions,
                rank: functions,
                error,
                withheld: error,
                fitted,
                cut: 0.0,
                trusted: true,
            };
            pairs.iter().map(one).collect()
        };
        // Noise: with more functions the error is a little lower at the points and higher between them.
        let noisy = ranked(&[
            (8, 0.5, 0.5),
            (16, 0.101, 0.098),
            (32, 0.1, 0.09),
            (64, 0.11, 0.07),
        ]);
        assert_eq!(smallest_good_enough(&noisy, 1e-5), Some(1));
        // Few points: the gain is hidden between them, but shows at them.
        let rough = ranked(&[(64, 5e-2, 2e-2), (128, 2.9e-2, 7e-3), (256, 2.7e-2, 1e-3)]);
        assert_eq!(smallest_good_enough(&rough, 1e-5), Some(2));
        // Exact to rounding is good enough.
        assert_eq!(smallest_good_enough(&rough, 6e-2), Some(0));
    }
}
