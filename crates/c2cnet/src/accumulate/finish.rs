//! How sums become a model.

use super::template::{Template, damaged};
use super::{Accumulator, other_template};
use crate::map::{CoefficientMap, GIVE_UP_RATIO, KernelMap, Landmarks};
use crate::metrics::mean;
use crate::observe::Observer;
use crate::operator::C2CNet;
use crate::plan::{MapPlan, TrainOn};
use crate::storage::Archive;
use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Nuggets that are tried per sample of the sums, as powers of ten.
const NUGGETS: std::ops::RangeInclusive<i32> = 2..=16;

/// How a model of sums was made and how well it does on first samples that were held out. Relative L2 errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccumulationReport {
    /// Samples that the model was fitted to, in the end with those that judged; a network is trained without those.
    pub samples: usize,
    /// Samples that judged.
    pub judges: usize,
    /// The mean error of the map.
    pub rl2e: f64,
    /// The smallest error that the output space allows.
    pub floor: f64,
    /// The worst error.
    pub worst_rl2e: f64,
    /// Which of the samples that judged has it.
    pub worst_sample: usize,
    /// The error of the linear map.
    pub linear_rl2e: f64,
    /// The error of predicting the mean training output.
    pub mean_rl2e: f64,
    /// The error of the model of the first samples alone; for a network, of their linear map.
    pub first_rl2e: f64,
    /// How many first samples there were.
    pub first_samples: usize,
    /// Centres of the kernel map; 0 for a linear one.
    pub centres: usize,
    /// Steps that trained a network; 0 for other maps.
    pub network_steps: usize,
}

impl Template {
    /// The model of all samples in `sums` and of those that judge, and how it was judged without them. A network is trained
    /// here, without those that judge; `observer` watches it.
    ///
    /// # Errors
    /// If the sums belong to another template or are damaged, or do not factor; if training fails or is interrupted.
    pub fn finish(
        &self,
        sums: &Accumulator,
        observer: &dyn Observer,
    ) -> Result<(C2CNet, AccumulationReport)> {
        self.check_sums(sums)?;
        let regression = sums.moments.regression(self.shift())?;
        let (strength, linear_rl2e) =
            regression.choose(self.judges.coefficients.as_ref(), &self.judges.targets);
        let judged = regression.map(strength, linear_rl2e);

        let judges = &self.judges;
        let mut moments = self.moments(&judges.coefficients, &judges.targets.coordinates);
        moments.add(&sums.moments);
        let linear = moments.regression(self.shift())?;
        let linear = linear.map(strength, linear_rl2e);
        let mut network_steps = 0;
        let (map, errors, samples): (Box<dyn CoefficientMap>, _, _) =
            match (&self.landmarks, &self.network, &sums.kept) {
                (Some(landmarks), ..) => {
                    let (map, errors) = self.solve_kernel(landmarks, sums)?;
                    (Box::new(map), errors, moments.samples())
                }
                (None, Some(network), Some(kept)) => {
                    let (map, training) = network.train(kept, judges, observer)?;
                    network_steps = training.steps;
                    let errors = judges.errors(&map);
                    (Box::new(map), errors, kept.samples())
                }
                _ => {
                    let errors = judges.errors(&judged);
                    (Box::new(linear.clone()), errors, moments.samples())
                }
            };
        let mean_output = judged.output_mean();
        let of_mean = Mat::from_fn(mean_output.len(), judges.count(), |i, _| mean_output[i]);
        let by_error = |a: &usize, b: &usize| errors[*a].total_cmp(&errors[*b]);
        let worst_sample = (0..errors.len()).max_by(by_error).unwrap_or(0);
        let report = AccumulationReport {
            samples,
            judges: judges.count(),
            rl2e: mean(&errors),
            floor: judges.targets.floor(),
            worst_rl2e: errors[worst_sample],
            worst_sample,
            linear_rl2e,
            mean_rl2e: mean(&judges.errors_of(&of_mean)),
            first_rl2e: self.first_error,
            first_samples: self.first_samples,
            centres: self.landmarks.as_ref().map_or(0, Landmarks::count),
            network_steps,
        };
        if !report.rl2e.is_finite() {
            return Err(Error::Numerical(format!(
                "the model fitted from the sums is unusable: its error is {}; check the data (`c2cnet inspect`, in Rust `Dataset::warnings`)",
                report.rl2e
            )));
        }
        let info = self.info(&report, sums);
        let spaces: C2CNet = Archive::of(&self.first)?.restore("template")?;
        Ok((spaces.with_maps(map, linear).with_info(info), report))
    }

    /// The kernel map of all samples, and the errors of the one without those that judge.
    fn solve_kernel(
        &self,
        landmarks: &Landmarks,
        sums: &Accumulator,
    ) -> Result<(KernelMap, Vec<f64>)> {
        let (nugget, errors) = self.choose_nugget(landmarks, sums)?;
        let judges = &self.judges;
        let coordinates = judges.targets.coordinates.as_ref();
        let mut all = landmarks.sums(judges.coefficients.as_ref(), coordinates);
        all.add(sums.kernel.as_ref().ok_or_else(|| damaged("kernel sums"))?);
        let samples = (judges.count() + sums.samples()) as f64;
        Ok((landmarks.solve(&all, nugget * samples)?, errors))
    }

    /// The nugget per sample whose map has the smallest error on the judges, and its errors.
    fn choose_nugget(&self, landmarks: &Landmarks, sums: &Accumulator) -> Result<(f64, Vec<f64>)> {
        let kernel = sums.kernel.as_ref().ok_or_else(|| damaged("kernel sums"))?;
        let mut best: Option<(f64, f64, Vec<f64>)> = None;
        let mut failure = None;
        for nugget in NUGGETS.map(|k| 10f64.powi(-k)) {
            let all = nugget * sums.samples() as f64;
            let errors = match landmarks.solve(kernel, all) {
                Ok(map) => self.judges.errors(&map),
                Err(e) => {
                    failure = Some(e);
                    break;
                }
            };
            let error = mean(&errors);
            let smallest = best.as_ref().map_or(f64::INFINITY, |b| b.1);
            if error < smallest {
                best = Some((nugget, error, errors));
            } else if error > GIVE_UP_RATIO * smallest {
                break;
            }
        }
        match (best, failure) {
            (Some((nugget, _, errors)), _) => Ok((nugget, errors)),
            (None, Some(error)) => Err(error),
            (None, None) => Err(Error::Numerical(
                "no nugget of the kernel map gives a finite error".into(),
            )),
        }
    }

    /// What people may want to know about the model.
    fn info(&self, report: &AccumulationReport, sums: &Accumulator) -> serde_json::Value {
        let mut info = self.first.info().clone();
        if let Some(network) = &self.network {
            let spec = Box::new(network.spec().clone());
            info["plan"]["map"] = serde_json::json!(MapPlan::Mlp {
                spec,
                train_on: TrainOn::NotHeldOut,
            });
            info["choices"] = serde_json::json!(self.choices());
        }
        let sources: BTreeSet<&String> = sums.sources.iter().collect();
        info["data"] = serde_json::json!({
            "n_train": report.samples,
            "sources": sources,
            "meta": info["data"]["meta"],
        });
        // Of the first samples alone.
        info["trained_on"].take();
        info["accumulated"] = serde_json::json!(report);
        // Points were withheld when bases were chosen, and have returned; all else is judged anew.
        let chosen = info["validation"].take();
        info["validation"] = serde_json::json!({
            "rl2e": report.rl2e,
            "floor": report.floor,
            "worst_rl2e": report.worst_rl2e,
            "worst_sample": report.worst_sample,
            "mean_rl2e": report.mean_rl2e,
            "linear_rl2e": report.linear_rl2e,
            "withheld_rl2e": chosen["withheld_rl2e"],
            "withheld_floor": chosen["withheld_floor"],
            "mse": null,
            "rms": null,
            "n_samples": report.judges,
        });
        info
    }

    fn check_sums(&self, sums: &Accumulator) -> Result<()> {
        if sums.template != self.id {
            return Err(other_template());
        }
        let (inputs, outputs) = (
            self.first.coefficient_map().inputs(),
            self.first.coefficient_map().outputs(),
        );
        let kernel = match (&sums.kernel, &self.landmarks) {
            (Some(sums), Some(landmarks)) => sums.fit(landmarks),
            (None, None) => true,
            _ => false,
        };
        let kept = match (&sums.kept, &self.network) {
            (Some(kept), Some(_)) => kept.fit(sums.samples(), inputs, outputs),
            (None, None) => true,
            _ => false,
        };
        match sums.moments.fit(inputs, outputs) && kernel && kept {
            true => Ok(()),
            false => Err(Error::Data("the sums are damaged".into())),
        }
    }
}
