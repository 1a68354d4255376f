//! A fitted operator.

use super::{Direct, EvaluationReport, MapsToEvaluate, MovingNodes};
use crate::basis::FieldBasis;
use crate::data::{Dataset, Field, Fields, Points};
use crate::decode::FieldDecoder;
use crate::encode::{FieldEncoder, VectorEncoder};
use crate::map::{CoefficientMap, LinearMap};
use crate::storage::{Archive, write_atomically};
use crate::{Error, Result};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

/// A solution operator: encode inputs, map coefficients, decode outputs anywhere.
#[derive(Debug)]
pub struct C2CNet {
    pub(super) inputs: Vec<(String, FieldEncoder)>,
    pub(super) outputs: Vec<(String, FieldDecoder)>,
    pub(super) map: Box<dyn CoefficientMap>,
    /// Kept beside the chosen map as the reference for its error.
    pub(super) linear: LinearMap,
    /// Outputs whose nodes move with the inputs.
    pub(super) moving: Vec<MovingNodes>,
    /// Settings, data fingerprint, errors at the end of training: human-readable.
    pub(super) info: serde_json::Value,
}

impl C2CNet {
    pub(crate) fn new(
        inputs: Vec<(String, FieldEncoder)>,
        outputs: Vec<(String, FieldDecoder)>,
        map: Box<dyn CoefficientMap>,
        linear: LinearMap,
    ) -> Self {
        C2CNet {
            inputs,
            outputs,
            map,
            linear,
            moving: Vec::new(),
            info: serde_json::Value::Null,
        }
    }

    /// Adds moving nodes. Their outputs were fitted on the reference nodes.
    pub(crate) fn with_moving(mut self, moving: Vec<MovingNodes>) -> Self {
        self.moving = moving;
        self
    }

    /// The same spaces with different maps.
    pub(crate) fn with_maps(self, map: Box<dyn CoefficientMap>, linear: LinearMap) -> Self {
        C2CNet {
            map,
            linear,
            ..self
        }
    }

    /// The linear map beside the chosen one.
    pub(crate) fn linear(&self) -> &LinearMap {
        &self.linear
    }

    /// Attaches human-readable information about the fit.
    pub(crate) fn with_info(mut self, info: serde_json::Value) -> Self {
        self.info = info;
        self
    }

    /// The fitted encoders by input name.
    pub(crate) fn inputs(&self) -> &[(String, FieldEncoder)] {
        &self.inputs
    }

    /// The fitted decoders by output name.
    pub(crate) fn outputs(&self) -> &[(String, FieldDecoder)] {
        &self.outputs
    }

    /// The moving nodes of each output that has them.
    pub(crate) fn moving(&self) -> &[MovingNodes] {
        &self.moving
    }

    /// Whether the nodes of the output called `output` move with the inputs.
    pub(crate) fn moves(&self, output: &str) -> bool {
        self.moving.iter().any(|nodes| nodes.output() == output)
    }

    /// The coefficient map.
    pub(crate) fn coefficient_map(&self) -> &dyn CoefficientMap {
        self.map.as_ref()
    }

    /// Settings, data fingerprint, errors at the end of training.
    pub fn info(&self) -> &serde_json::Value {
        &self.info
    }

    /// Input coefficients, one column per sample; fields are matched by name.
    ///
    /// # Errors
    /// If a field is missing or does not fit its encoder.
    pub fn encode(&self, inputs: &Fields) -> Result<Mat<f64>> {
        encode_fields(&self.inputs, inputs)
    }

    /// The output coordinates of input coefficients, one column per sample.
    ///
    /// # Errors
    /// If the number of coefficients does not match the map.
    pub fn map(&self, coefficients: MatRef<'_, f64>) -> Result<Mat<f64>> {
        match coefficients.nrows() == self.map.inputs() {
            true => Ok(self.map.predict(coefficients)),
            false => Err(Error::shape(
                "coefficients",
                format!("{} per sample", self.map.inputs()),
                format!("{}", coefficients.nrows()),
            )),
        }
    }

    /// Predicted output coordinates, one column per sample; those of moving nodes come below the others.
    ///
    /// # Errors
    /// As [`C2CNet::encode`], or if the map gives values that are not finite.
    pub fn predict_coordinates(&self, inputs: &Fields) -> Result<Mat<f64>> {
        self.coordinates(inputs, self.encode(inputs)?.as_ref())
    }

    /// The same for inputs with these coefficients.
    pub(super) fn coordinates(
        &self,
        inputs: &Fields,
        coefficients: MatRef<'_, f64>,
    ) -> Result<Mat<f64>> {
        let coordinates = self.map.predict(coefficients);
        for k in 0..coordinates.ncols() {
            if let Some(v) = coordinates.col(k).iter().find(|v| !v.is_finite()) {
                return Err(Error::Numerical(format!(
                    "the model's {} map gives {v} for sample {k}; its inputs are unlike the training inputs",
                    self.map.kind()
                )));
            }
        }
        if self.moving.is_empty() {
            return Ok(coordinates);
        }
        let mut parts = vec![coordinates];
        for moving in &self.moving {
            parts.push(moving.displacements.predict_coordinates(inputs)?);
        }
        Ok(stack(&parts))
    }

    /// One line for each input that looks unlike the samples of the fit. Predictions for such inputs are
    /// extrapolations.
    pub fn warnings(&self, inputs: &Fields) -> Vec<String> {
        let warning = |(name, encoder): &(String, FieldEncoder)| {
            let out_of_range = encoder.out_of_range(inputs.get(name)?)?;
            let label = match encoder.vector() {
                Some(_) => vector_label("input", name),
                None => format!("input {name}").trim_end().to_string(),
            };
            let entry = match encoder.components() {
                1 => String::new(),
                _ => format!("[{}]", out_of_range.component),
            };
            let others = match out_of_range.count {
                1 => String::new(),
                2 => ", and 1 more sample is outside this range".into(),
                n => format!(", and {} more samples are outside this range", n - 1),
            };
            let shown = |v: f64| match v.abs() {
                size if size == 0.0 || (1e-2..1e4).contains(&size) => format!("{v:.3}"),
                _ => format!("{v:.2e}"),
            };
            let [low, high] = out_of_range.seen.map(shown);
            Some(format!(
                "{label}{entry} of sample {} is {}, training samples had {low} to {high}{others}: these predictions are \
                 extrapolated and may be far off",
                out_of_range.sample,
                shown(out_of_range.value)
            ))
        };
        self.inputs.iter().filter_map(warning).collect()
    }

    /// Predicts the only output for `inputs` at `points`: one `n` x `N` matrix for each component.
    ///
    /// # Errors
    /// If the model has several outputs, an input does not fit its encoder, or a point lies outside the output's
    /// domain.
    pub fn predict(&self, inputs: &Fields, points: &Points) -> Result<Vec<Mat<f64>>> {
        match &self.outputs[..] {
            [(name, _)] => self.predict_output(name, inputs, points),
            _ => Err(Error::Config(format!(
                "the model has the outputs {}: name one, with predict_output",
                self.output_names()
            ))),
        }
    }

    /// Predicts the output called `output`; otherwise like [`C2CNet::predict`].
    ///
    /// # Errors
    /// If there is no such output, an input does not fit its encoder, or a point lies outside the output's domain.
    pub fn predict_output(
        &self,
        output: &str,
        inputs: &Fields,
        points: &Points,
    ) -> Result<Vec<Mat<f64>>> {
        self.prediction(inputs)?.at(output, points)
    }

    /// The output called `output` at `points`, from the coordinates of all outputs: a function of the output space. What
    /// layers predict need not lie there; see [`C2CNet::prediction`].
    ///
    /// # Errors
    /// If there is no such output, the number of coordinates does not match the outputs, or a point
    /// lies outside the output's domain.
    pub fn decode(
        &self,
        coordinates: MatRef<'_, f64>,
        output: &str,
        points: &Points,
    ) -> Result<Vec<Mat<f64>>> {
        let Some(place) = self.outputs.iter().position(|(name, _)| name == output) else {
            return Err(Error::Data(format!(
                "there is no output {output:?}; the model has {}",
                self.output_names()
            )));
        };
        self.check_coordinates(coordinates)?;
        let start = self.outputs[..place].iter().map(|(_, d)| d.rank()).sum();
        let decoder = &self.outputs[place].1;
        let of_output = coordinates.subrows(start, decoder.rank());
        let Some((moving, rows)) = self.moving_rows(output) else {
            let values = decoder.decode(of_output, points);
            return values.map_err(|e| e.at_points_of("output", output));
        };
        let nodes = moving.nodes(coordinates.subrows(rows.start, rows.len()))?;
        let samples = nodes
            .par_iter()
            .enumerate()
            .map(|(k, nodes)| {
                let places = moving.pull_back(nodes, points)?;
                decoder.decode(of_output.subcols(k, 1), &places)
            })
            .collect::<Result<Vec<_>>>()?;
        let component =
            |c: usize| Mat::from_fn(points.len(), samples.len(), |i, k| samples[k][c][(i, 0)]);
        Ok((0..decoder.basis().components()).map(component).collect())
    }

    /// Where the nodes of the output called `output` lie in each sample, from the coordinates of all outputs; `None` if
    /// they do not move.
    ///
    /// # Errors
    /// If the number of coordinates does not match the outputs.
    pub fn nodes(&self, coordinates: MatRef<'_, f64>, output: &str) -> Result<Option<Vec<Points>>> {
        self.check_coordinates(coordinates)?;
        self.moving_rows(output)
            .map(|(moving, rows)| moving.nodes(coordinates.subrows(rows.start, rows.len())))
            .transpose()
    }

    /// The moving nodes of an output and the range of their coordinates.
    fn moving_rows(&self, output: &str) -> Option<(&MovingNodes, Range<usize>)> {
        let place = self.moving.iter().position(|m| m.output() == output)?;
        let before: usize = self.moving[..place].iter().map(MovingNodes::rank).sum();
        let start = self.map.outputs() + before;
        Some((
            &self.moving[place],
            start..start + self.moving[place].rank(),
        ))
    }

    fn check_coordinates(&self, coordinates: MatRef<'_, f64>) -> Result<()> {
        let moving: usize = self.moving.iter().map(MovingNodes::rank).sum();
        let expected = self.map.outputs() + moving;
        match coordinates.nrows() == expected {
            true => Ok(()),
            false => Err(Error::shape(
                "coordinates",
                format!("{expected} of all outputs per sample"),
                format!("{}", coordinates.nrows()),
            )),
        }
    }

    fn output_names(&self) -> String {
        let names = self.outputs.iter().map(|(name, _)| format!("{name:?}"));
        names.collect::<Vec<_>>().join(", ")
    }

    /// The factor by which the encoder of the first input amplifies noise in readings at `points`; `None` if it learned
    /// a prior.
    ///
    /// # Errors
    /// As [`C2CNet::encode`].
    #[doc(hidden)] // for the experiments
    pub fn amplification(&self, points: &Points) -> Result<Option<f64>> {
        self.inputs[0].1.amplification(points)
    }

    /// Errors on all samples of `data`.
    ///
    /// # Errors
    /// If the data does not fit the model or has no outputs.
    pub fn evaluate(&self, data: &Dataset) -> Result<EvaluationReport> {
        let coefficients = self.encode(&data.inputs)?;
        let direct = Direct::new(self.map.as_ref(), &self.inputs, &self.outputs);
        let maps = MapsToEvaluate {
            decoders: &self.outputs,
            map: self.map.as_ref(),
            // Nodes that move are known in the output space alone.
            direct: direct.filter(|_| self.moving.is_empty()),
            linear: &self.linear,
        };
        if self.moving.is_empty() {
            return maps.evaluate(coefficients.as_ref(), &data.outputs, false);
        }
        let mut outputs = data.outputs.clone();
        for moving in &self.moving {
            let field = field_named(&data.outputs, moving.output(), "output")?;
            let coordinates = moving.displacements.predict_coordinates(&data.inputs)?;
            if field.samples() != coordinates.ncols() {
                return Err(Error::shape(
                    format!("output {:?}", moving.output()),
                    format!("{} samples, as the inputs", coordinates.ncols()),
                    format!("{}", field.samples()),
                ));
            }
            let field = moving.on_reference(coordinates.as_ref(), field)?;
            let mut all = outputs.iter_mut();
            if let Some((_, output)) = all.find(|(name, _)| name == moving.output()) {
                *output = field;
            }
        }
        maps.evaluate(coefficients.as_ref(), &outputs, false)
    }

    /// Writes the model, all or nothing.
    ///
    /// # Errors
    /// If the file could not be read back or cannot be written; an existing file is untouched.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes()?;
        Self::from_bytes(&bytes).map_err(|e| {
            Error::Numerical(format!(
                "{}: not written, because it could not be read back: {e}",
                path.display()
            ))
        })?;
        write_atomically(path, |out| out.write_all(&bytes))
    }

    /// The model as the bytes of its file.
    ///
    /// # Errors
    /// If they cannot be assembled.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.to_archive()?.to_bytes()
    }

    /// The whole model as arrays and one document, as in its file.
    ///
    /// # Errors
    /// If a part's `Serialize` fails.
    pub fn to_archive(&self) -> Result<Archive> {
        Archive::of(self)
    }

    /// Reads a model written by [`C2CNet::save`].
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, foreign or of another format version.
    pub fn load(path: &Path) -> Result<Self> {
        Self::named_archive(Archive::read(path)?, path)
    }

    /// Reads what [`C2CNet::to_bytes`] gave.
    ///
    /// # Errors
    /// If the bytes are damaged, foreign or of another format version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let path = Path::new("model in memory");
        Self::named_archive(Archive::from_bytes(bytes, path)?, path)
    }

    fn named_archive(archive: Archive, path: &Path) -> Result<Self> {
        archive.restore("model").map_err(|e| match e {
            Error::Io { .. } | Error::Format { .. } => e,
            other => Error::format(path, other.to_string()),
        })
    }
}

/// Concatenated coefficients of fields matched by name.
fn encode_fields(encoders: &[(String, FieldEncoder)], fields: &Fields) -> Result<Mat<f64>> {
    let parts = encoders
        .iter()
        .map(|(name, encoder)| {
            let field = field_named(fields, name, "input")?;
            let values = encoder.vector().map(VectorEncoder::values);
            check_kind("input", name, values, field)?;
            check_fit("input", name, encoder.basis(), field)?;
            field.check_inputs(format!("input {name}").trim_end())?;
            let encoded = encoder.encode(field);
            match encoder.vector() {
                Some(_) => encoded.map_err(|e| e.within(&vector_label("input", name))),
                None => encoded.map_err(|e| e.at_points_of("input", name)),
            }
        })
        .collect::<Result<Vec<_>>>()?;
    for ((name, _), part) in encoders.iter().zip(&parts) {
        if part.ncols() != parts[0].ncols() {
            return Err(Error::shape(
                format!("input {name:?}"),
                format!("{} samples, as the first input", parts[0].ncols()),
                format!("{}", part.ncols()),
            ));
        }
    }
    Ok(stack(&parts))
}

/// A vector's name in messages: its kind and `p` or `q`, or its own name.
pub(crate) fn vector_label(kind: &str, name: &str) -> String {
    let key = if kind == "input" { "p" } else { "q" };
    format!("{kind} {}", if name.is_empty() { key } else { name })
}

/// Checks that the field is a vector of width `fitted`, or a function if `fitted` is `None`, as in the fit.
pub(super) fn check_kind(
    kind: &str,
    name: &str,
    fitted: Option<usize>,
    field: &Field,
) -> Result<()> {
    let label = match fitted {
        Some(_) => vector_label(kind, name),
        None => format!("{kind} {name}").trim_end().to_string(),
    };
    let found = field.components();
    match (fitted, field.is_vector()) {
        (Some(fitted), true) if fitted != found => {
            let plural = if found == 1 { "" } else { "s" };
            // An array with one axis has a value for each sample.
            let single = match found == 1 && field.samples() == fitted {
                true => {
                    let key = if kind == "input" { "p" } else { "q" };
                    format!("; for a single sample save {key}[None], of shape (1, {fitted})")
                }
                false => String::new(),
            };
            Err(Error::Data(format!(
                "{label}: {found} value{plural} per sample, the model was fitted to {fitted}{single}"
            )))
        }
        (Some(fitted), false) => Err(Error::Data(format!(
            "{label}: a function, but the model was fitted to {fitted} values per sample without points; \
             save them as `{}`, of shape (samples, {fitted})",
            if kind == "input" { "p" } else { "q" }
        ))),
        (None, true) => Err(Error::Data(format!(
            "{label}: {found} values per sample without points, the model was fitted to a function; \
             give its points"
        ))),
        _ => Ok(()),
    }
}

/// Checks that the field has as many coordinates and components as the function of the fit.
pub(super) fn check_fit(kind: &str, name: &str, basis: &FieldBasis, field: &Field) -> Result<()> {
    if field.is_vector() {
        return Ok(());
    }
    let label = format!("{kind} {name}");
    let label = label.trim_end();
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let dim = basis.domain().dim();
    for (fitted, found, what) in [
        (dim, field.dim(), "coordinate"),
        (basis.components(), field.components(), "component"),
    ] {
        if fitted != found {
            return Err(Error::Data(format!(
                "{label}: {} per point, the model was fitted to {}; is this the data of another model?",
                counted(found, what),
                counted(fitted, what)
            )));
        }
    }
    Ok(())
}

/// Matrices stacked vertically.
pub(crate) fn stack(parts: &[Mat<f64>]) -> Mat<f64> {
    let rows = parts.iter().map(Mat::nrows).sum();
    let mut out = Mat::zeros(rows, parts[0].ncols());
    let mut start = 0;
    for part in parts {
        out.as_mut()
            .subrows_mut(start, part.nrows())
            .copy_from(part);
        start += part.nrows();
    }
    out
}

/// A field in words: `f` or `u` if it is the only one.
fn called(kind: &str, name: &str) -> String {
    match (name, kind) {
        ("", "input") => "`f` (the only one, without a name)".into(),
        ("", _) => "`u` (the only one, without a name)".into(),
        _ => format!("{name:?}"),
    }
}

/// The field called `name`.
pub(crate) fn field_named<'a>(fields: &'a Fields, name: &str, kind: &str) -> Result<&'a Field> {
    fields.get(name).ok_or_else(|| {
        let have: Vec<_> = fields.iter().map(|(n, _)| format!("{n:?}")).collect();
        Error::Data(match (fields.is_empty(), kind) {
            (true, "output") => "evaluation needs outputs, `u` or `q`; the data has none".into(),
            (true, _) => format!(
                "the model needs the {kind} {}; the data has none",
                called(kind, name)
            ),
            (false, _) => format!(
                "the model needs the {kind} {}; the data has {}",
                called(kind, name),
                have.join(", ")
            ),
        })
    })
}
