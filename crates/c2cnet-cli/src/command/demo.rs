//! `c2cnet demo`: a guided tour of every step.

use super::errors;
use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use c2cnet::data::{Dataset, Field, Fields, Observations, Points};
use c2cnet::internal::relative;
use c2cnet::operator::EvaluationReport;
use c2cnet::{C2CNet, FitConfig, fit};
use c2cnet::{Error, Result};
use c2cnet_experiments::labels::Labels;
use c2cnet_experiments::output_path;
use c2cnet_experiments::picture::{self, Function, PickedSample, Shown};
use c2cnet_experiments::terminal::{Progress, counted, error, interrupt, print_line};
use c2cnet_problems::{AnyProblem, Darcy1d, Problem, problems};
use faer::Mat;
use serde_json::json;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  c2cnet demo
  c2cnet demo darcy1d --out somewhere";

/// Make data, fit, evaluate, predict on a finer grid and draw a picture, with every step explained.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The problem; `c2cnet generate --list` describes them.
    #[arg(default_value = "darcy1d")]
    problem: String,

    /// The folder for the files that it writes.
    #[arg(long, value_name = "DIR", default_value = "demo")]
    out: PathBuf,

    /// The seed of the data and of the fit.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Points of the demonstration's grid, and how many intervals of the finer grid fit into one of its own.
const POINTS: usize = 500;
const REFINEMENT: usize = 4;

pub fn run(args: &Args) -> anyhow::Result<()> {
    let all = problems();
    let problem = find(&all, &args.problem)?;
    output_path::folder(&args.out)?;
    let file = |ending: &str| args.out.join(format!("{}.{ending}", problem.name));
    let (data_file, model_file, picture_file) = (file("npz"), file("c2c"), file("svg"));
    let writes = [
        (data_file.as_path(), FileKind::Data),
        (model_file.as_path(), FileKind::Model),
        (picture_file.as_path(), FileKind::Figure),
    ];
    outputs::check(Force::default(), None, &writes)?;

    print_line("1. Data")?;
    print_line(format_args!("   {}", problem.description))?;
    let progress = Progress::start("generating data");
    // For a problem with a grid on an interval, the truth is also known between the data's points.
    let fine = fine_data(problem, args.seed, &progress)?;
    let data = match &fine {
        Some(fine) => thinned(fine)?,
        None => problem.generate(json!(null), args.seed, &progress)?,
    };
    interrupt::patiently(|| data.write_npz(&data_file))?;
    drop(progress);
    let train = data.train_indices().len();
    let (set, tested) = judging_set(&data)?;
    let test = data.select(&tested);
    print_line(format_args!(
        "   {} of functions at {}: {train} are for training, {} are held out for testing.\n   wrote {}\n",
        counted(data.samples(), "pair"),
        counted(data.outputs.only()?.points_of(0).len(), "point"),
        data.samples() - train,
        data_file.display()
    ))?;

    let model = fit_and_explain(&data, args.seed, &model_file)?;

    print_line(format_args!(
        "3. Evaluate on the {set} samples, which the fit never saw"
    ))?;
    let errors = model.evaluate(&test)?;
    print_line(errors::table(&errors, &model, None))?;
    print_line(explained(&errors))?;

    print_line("4. Predict between the data points")?;
    let rows = match &fine {
        Some(fine) => finer(&model, &data, fine)?,
        None => coarse(&model, &test, &errors.relative)?,
    };
    draw(problem.name, &data, &rows, &picture_file)?;

    print_line(next_steps(&model_file, &data_file))?;
    Ok(())
}

/// The name and the samples of the set that judges: the test samples, or the first set behind the training samples.
fn judging_set(data: &Dataset) -> Result<(&str, Vec<usize>)> {
    let sets = data.split.iter().flatten().map(String::as_str);
    let others: Vec<&str> = sets.filter(|&set| set != "train").collect();
    let name = match others.contains(&"test") {
        true => "test",
        false => others.first().copied().unwrap_or("test"),
    };
    Ok((name, data.set(name)?))
}

fn fit_and_explain(data: &Dataset, seed: u64, model_file: &Path) -> anyhow::Result<C2CNet> {
    print_line("2. Fit: input -> coefficients in a basis -> map -> coefficients -> output")?;
    let config = FitConfig {
        seed,
        ..FitConfig::default()
    };
    let progress = Progress::start("fitting");
    let (model, fitted) = interrupt::patiently(|| fit(data, &config, &progress))?;
    interrupt::patiently(|| model.save(model_file))?;
    drop(progress);
    print_line("   Nothing had to be chosen by hand. On held-out training samples, the fit chose")?;
    for choice in &fitted.choices {
        print_line(format_args!("   - {choice}"))?;
    }
    print_line(format_args!(
        "   in {:.1} s.\n   wrote {}\n",
        fitted.seconds.total,
        model_file.display()
    ))?;
    Ok(model)
}

fn draw(name: &str, data: &Dataset, rows: &[Shown], file: &Path) -> anyhow::Result<()> {
    let predicted_at = rows[0].output.as_ref().map_or(0, |(u, _)| u.points.len());
    let title = format!(
        "{}: test samples predicted at {} from inputs at {}",
        name,
        counted(predicted_at, "point"),
        data.inputs.only()?.points_of(0).len()
    );
    output_path::write(file, &picture::draw(&title, rows, data).to_svg())?;
    print_line(format_args!(
        "   wrote {}: prediction, truth and error of the median and the worst test sample\n",
        file.display(),
    ))?;
    Ok(())
}

fn find<'a>(all: &'a [AnyProblem], name: &str) -> Result<&'a AnyProblem> {
    all.iter().find(|p| p.name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|p| p.name).collect();
        Error::Config(format!(
            "unknown problem `{name}`; known are {}",
            names.join(", ")
        ))
    })
}

fn explained(errors: &EvaluationReport) -> String {
    format!(
        "   How to read this: RL2E is the size of the error relative to the size of the solution. A model\n   \
         that ignores its input has {}, a linear one {}, this one {}. Whatever the\n   \
         map, the output's basis allows no less than the floor, {}.\n",
        error(errors.mean_rl2e),
        error(errors.linear_rl2e),
        error(errors.rl2e),
        error(errors.floor)
    )
}

fn next_steps(model: &Path, data: &Path) -> String {
    format!(
        "Next, try\n  \
         c2cnet inspect {model}\n  \
         c2cnet evaluate {model} {data} --figure samples.svg\n  \
         c2cnet predict {model} {data} -o prediction.npz\n  \
         c2cnet diagnose {data}\n  \
         c2cnet fit --help          which says how to bring your own data",
        model = model.display(),
        data = data.display()
    )
}

/// The data on a grid that holds the demonstration's grid and points between, if the problem lives
/// on an interval.
fn fine_data(
    problem: &c2cnet_problems::AnyProblem,
    seed: u64,
    progress: &Progress,
) -> Result<Option<Dataset>> {
    if problem.name != Darcy1d::NAME {
        return Ok(None);
    }
    let points = (POINTS - 1) * REFINEMENT + 1;
    let data = problem.generate(json!({ "points": points }), seed, progress)?;
    let on_grid = |(_, field): &(String, Field)| {
        field.dim() == 1 && field.shared_points().is_some_and(|p| p.len() == points)
    };
    let fits = data.inputs.iter().chain(&data.outputs).all(on_grid);
    Ok(fits.then_some(data))
}

/// Every n-th point of all fields.
fn thinned(fine: &Dataset) -> Result<Dataset> {
    let thin = |fields: &Fields| {
        fields
            .iter()
            .map(|(name, field)| {
                let Observations::Shared { points, values } = field.observations() else {
                    return Ok((name.clone(), field.clone()));
                };
                let kept: Vec<usize> = (0..points.len()).step_by(REFINEMENT).collect();
                let values = values
                    .iter()
                    .map(|v| Mat::from_fn(kept.len(), v.ncols(), |i, k| v[(kept[i], k)]))
                    .collect();
                Ok((name.clone(), Field::shared(points.select(&kept), values)?))
            })
            .collect::<Result<Fields>>()
    };
    let mut data = fine.clone();
    data.inputs = thin(&fine.inputs)?;
    data.outputs = thin(&fine.outputs)?;
    data.meta["thinned"] = json!(format!("every {REFINEMENT}th point of the settings' grid"));
    Ok(data)
}

/// Test samples on the finer grid, from inputs on the data's grid.
fn finer(model: &C2CNet, data: &Dataset, fine: &Dataset) -> Result<Vec<Shown>> {
    let test = data.test_indices();
    let inputs = data.select(&test);
    let truth = &fine.outputs.only()?.select(&test);
    let points: &Points = truth.points_of(0);
    let predicted = &model.predict(&inputs.inputs, points)?[0];
    let between: Vec<usize> = (0..points.len()).filter(|i| i % REFINEMENT != 0).collect();
    let each: Vec<f64> = (0..test.len())
        .map(|k| {
            let truth = truth.values_of(k);
            let (mut off, mut size) = (0.0, 0.0);
            for &i in &between {
                off += (predicted[(i, k)] - truth[i]).powi(2);
                size += truth[i].powi(2);
            }
            relative(off, size)
        })
        .collect();
    print_line(format_args!(
        "   The model is a function of position: from inputs at {} points it predicts at {}.\n   \
         At the {} points between the data's own, where nothing was given, its RL2E is {}.",
        inputs.inputs.only()?.points_of(0).len(),
        points.len(),
        between.len(),
        error(each.iter().sum::<f64>() / each.len() as f64)
    ))?;
    let labels = Labels::of(data);
    let row = |(what, k): (&str, usize)| {
        let function = Function {
            axes: labels.axes("y", "", points.dim()),
            symbol: "u".into(),
            points: points.clone(),
            values: truth.values_of(k),
            scattered: false,
        };
        Shown {
            what: format!("{what}: sample {}", test[k]),
            rl2e: each[k],
            input: picture::inputs(&inputs.inputs, k, &labels)
                .into_iter()
                .next(),
            output: Some((function, predicted.col(k).iter().copied().collect())),
        }
    };
    Ok(median_and_worst(&each).map(row).into())
}

/// Test samples at the data's own points.
fn coarse(model: &C2CNet, test: &Dataset, each: &[f64]) -> Result<Vec<Shown>> {
    let labels = Labels::of(test);
    let mut rows = Vec::new();
    for (what, sample) in median_and_worst(each) {
        let (what, rl2e) = (what.to_string(), each[sample]);
        let picked = PickedSample { sample, what, rl2e };
        rows.extend(Shown::rows(model, test, &labels, &picked)?);
    }
    Ok(rows)
}

fn median_and_worst(errors: &[f64]) -> [(&'static str, usize); 2] {
    let mut order: Vec<usize> = (0..errors.len()).collect();
    order.sort_by(|&a, &b| errors[a].total_cmp(&errors[b]));
    [
        ("median", order[order.len() / 2]),
        ("worst", order[order.len() - 1]),
    ]
}
