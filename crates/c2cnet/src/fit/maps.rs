//! Stages 3 and 4: the coefficient maps of a plan, without the held-out samples and with all.

use super::{Context, Inputs, MapTrainingSet, OutputFrame, Outputs};
use crate::map::mlp::TrainingReport;
use crate::map::{
    CoefficientMap, Features, KernelMap, KernelSettings, LayeredMap, LinearMap, MlpMap, Split,
    joint,
};
use crate::metrics::mean;
use crate::observe::Work;
use crate::plan::{MapPlan, NetworkSpec, PlannedMap};
use crate::report::NetworkReport;
use crate::{Result, linalg};

/// Maps fitted without the held-out samples.
pub(crate) struct FoldMaps {
    pub map: Box<dyn CoefficientMap>,
    pub linear: LinearMap,
    /// The training of the map, if it is a network.
    pub training: Option<TrainingReport>,
}

/// The maps of a model.
pub(super) struct FinalMaps {
    pub map: Box<dyn CoefficientMap>,
    pub linear: LinearMap,
    pub network: Option<NetworkReport>,
}

/// At most this many samples fit the kernel map that is judged on held-out samples: with more, judging would cost as
/// much as the final fit. The measured error is then slightly too large.
const FOLD_SAMPLES: usize = 8000;

/// Stage 3: the maps fitted without the held-out samples.
pub(crate) fn fold_maps(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    plan: &MapPlan,
) -> Result<FoldMaps> {
    let linear = fold_linear(context, set)?;
    let mut training = None;
    let map: Box<dyn CoefficientMap> = match plan.map() {
        PlannedMap::Linear => Box::new(linear.clone()),
        PlannedMap::Kernel(settings) => {
            let train = &context.split.train;
            let targets = joint::completed(set.targets, set.coefficients, &linear, train)?;
            let features = settings.learn_features(
                linalg::select_columns(set.coefficients, train).as_ref(),
                &targets.select(train),
                &linear,
                context.protocol.seed,
                context.observer,
            )?;
            Box::new(fold_kernel(context, set, settings, features, &linear)?)
        }
        PlannedMap::Network(spec) => {
            let (map, report) = fold_network(context, set, &spec, None)?;
            training = Some(report);
            map
        }
    };
    Ok(FoldMaps {
        map,
        linear,
        training,
    })
}

/// The linear map without the held-out samples.
pub(crate) fn fold_linear(context: &Context<'_>, set: &MapTrainingSet<'_>) -> Result<LinearMap> {
    let train = &context.split.train;
    LinearMap::fit_owned(
        linalg::select_columns(set.coefficients, train),
        &set.targets.select(train),
        set.mirrors.clone(),
    )
}

/// A kernel map in given features, without the held-out samples, whose linear map is `linear`.
pub(crate) fn fold_kernel(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    settings: &KernelSettings,
    features: Features,
    linear: &LinearMap,
) -> Result<KernelMap> {
    let train = &context.split.train;
    let affordable = FOLD_SAMPLES * features.reflections();
    let (train, features) = match train.len() <= affordable {
        true => (&train[..], features),
        // A subset of the samples comes without images.
        false => (&train[..FOLD_SAMPLES], features.without_mirrors()),
    };
    let (among, centres) = (&context.split.train, settings.max_centres);
    let targets =
        joint::completed_for_kernel(set.targets, set.coefficients, linear, among, centres)?;
    KernelMap::fit(
        linalg::select_columns(set.coefficients, train).as_ref(),
        &targets.select(train),
        features,
        settings.clone(),
        context.protocol.seed,
        context.observer,
    )
}

/// A network trained without the held-out samples, which takes about `seconds`.
pub(crate) fn fold_network(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    spec: &NetworkSpec,
    seconds: Option<f64>,
) -> Result<Trained> {
    context.begin(Work::TrainToJudge {
        train: context.split.train.len(),
        samples: set.coefficients.ncols(),
        seconds,
    });
    train_network(context, set, spec)
}

/// A network trained without the held-out samples, without announcing a step.
pub(crate) fn train_network(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    spec: &NetworkSpec,
) -> Result<Trained> {
    train(context, set, spec, &context.split)
}

/// A network with its training.
pub(crate) type Trained = (Box<dyn CoefficientMap>, TrainingReport);

fn train(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    spec: &NetworkSpec,
    split: &Split,
) -> Result<Trained> {
    let (seed, observer) = (context.protocol.seed, context.observer);
    match spec {
        NetworkSpec::Mlp(spec) => {
            let (map, report) = MlpMap::fit(&set.for_network(), split, spec, seed, observer)?;
            Ok((Box::new(map), report))
        }
        NetworkSpec::Layered(spec) => {
            let (map, report) = LayeredMap::fit(&set.for_layers()?, split, spec, seed, observer)?;
            Ok((Box::new(map), report))
        }
    }
}

/// The mean relative error of a map on the held-out samples.
pub(crate) fn held_out_error(
    map: &dyn CoefficientMap,
    set: &MapTrainingSet<'_>,
    split: &Split,
) -> f64 {
    mean(&held_out_errors(map, set, split))
}

/// The relative error of a map on each held-out sample.
pub(crate) fn held_out_errors(
    map: &dyn CoefficientMap,
    set: &MapTrainingSet<'_>,
    split: &Split,
) -> Vec<f64> {
    let held = linalg::select_columns(set.coefficients, &split.validation);
    let predicted = map.predict(held.as_ref());
    set.targets
        .relative_errors(predicted.as_ref(), &split.validation)
}

/// Stage 4: the maps fitted to all samples. `training` and `judged` belong to a network that was judged; `judged` is
/// given only if it is the model's network.
pub(super) fn final_maps(
    context: &Context<'_>,
    (inputs, outputs): (&Inputs, &Outputs),
    plan: &MapPlan,
    (training, judged): (Option<TrainingReport>, Option<Box<dyn CoefficientMap>>),
) -> Result<FinalMaps> {
    let frame = OutputFrame::for_plan(context, inputs, outputs, plan)?;
    let set = &MapTrainingSet::new(inputs, outputs, &frame);
    let linear = LinearMap::fit_mirrored(set.coefficients, set.targets, set.mirrors.clone())?;
    let mut network = None;
    let map: Box<dyn CoefficientMap> = match plan.map() {
        PlannedMap::Linear => Box::new(linear.clone()),
        PlannedMap::Kernel(settings) => Box::new(final_kernel(context, set, settings, &linear)?),
        PlannedMap::Network(spec) => {
            let (map, fitted) = match judged {
                Some(map) => (map, None),
                None => {
                    let (map, report) = train_on_all(context, set, &spec, training.as_ref())?;
                    (map, Some(report))
                }
            };
            network = Some(NetworkReport {
                judged: training,
                fitted,
            });
            map
        }
    };
    Ok(FinalMaps {
        map,
        linear,
        network,
    })
}

/// The kernel map of all samples, whose linear map is `linear`.
fn final_kernel(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    settings: &KernelSettings,
    linear: &LinearMap,
) -> Result<KernelMap> {
    context.begin(Work::FitMap);
    let coefficients = set.coefficients;
    let (seed, observer) = (context.protocol.seed, context.observer);
    let all: Vec<usize> = (0..coefficients.ncols()).collect();
    let centres = settings.max_centres;
    let targets = &*joint::completed_for_kernel(set.targets, coefficients, linear, &all, centres)?;
    let features = settings.learn_features(coefficients, targets, linear, seed, observer)?;
    KernelMap::fit(
        coefficients,
        targets,
        features,
        settings.clone(),
        seed,
        observer,
    )
}

/// A network trained on all samples; one trained on fewer predicts how long that will take.
fn train_on_all(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    spec: &NetworkSpec,
    fewer: Option<&TrainingReport>,
) -> Result<Trained> {
    let samples = set.coefficients.ncols();
    let seconds = fewer.map(|t| t.seconds * samples as f64 / t.samples.0 as f64);
    context.begin(Work::TrainOnAll { seconds });
    train(context, set, spec, &Split::all(samples))
}
