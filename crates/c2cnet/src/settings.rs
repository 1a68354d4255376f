//! Settings of a fit, as written in a TOML file; unknown keys are errors.

use crate::basis::{BasisSpec, HybridSpec};
use crate::data::{Bounds, Symmetries};
use crate::encode::{EncoderSpec, Kind, Transform};
use crate::map::mlp::Recipe;
use crate::map::{KernelSpec, LayeredSpec, MlpSpec};
use crate::plan::{Components, Protocol};
use crate::{Error, Result};
use documented::Documented;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod domains;
pub(crate) mod groups;
mod mistakes;
mod per_component;
#[doc(hidden)] // for the command and the Python package
pub use mistakes::explain;
pub use per_component::PerComponent;
pub(crate) use per_component::PerComponentWord;

/// Settings of a fit. Everything has a default; what is not given is chosen from the training data.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `seed` | 0 | every random choice | any |
/// | `validation` | 0.2 | part of the training samples that judges choices, at most 2,500 of them | 0 to 0.5, both excluded |
/// | `withhold` | 0.1 | part of the output points that judge choices; they return for the final fit | 0 to 0.5 |
/// | `symmetries` | `none` | augment the training samples | `none`, `interval`, `square` |
/// | `input`, `output` | | bases, encoder, transform | see [`InputConfig`] and [`OutputConfig`] |
/// | `inputs.NAME`, `outputs.NAME` | `input`, `output` | the same for one named field | |
/// | `map` | | the coefficient map | see [`MapConfig`] |
/// | `search` | | limits of the search for bases | see [`SearchConfig`] |
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FitConfig {
    /// Seed of every random choice.
    pub seed: u64,
    /// Part of the training samples held out to judge choices.
    pub validation: f64,
    /// Part of the output points that judge choices, and return for the final fit.
    pub withhold: f64,
    /// Symmetries by which training samples are augmented.
    pub symmetries: Symmetries,
    /// All input fields that are not named below.
    pub input: InputConfig,
    /// All output fields that are not named below.
    pub output: OutputConfig,
    /// Named input fields.
    pub inputs: BTreeMap<String, InputConfig>,
    /// Named output fields.
    pub outputs: BTreeMap<String, OutputConfig>,
    /// The coefficient map.
    pub map: MapConfig,
    /// Limits of the search for bases.
    pub search: SearchConfig,
}

impl Default for FitConfig {
    fn default() -> Self {
        FitConfig {
            seed: 0,
            validation: 0.2,
            withhold: 0.1,
            symmetries: Symmetries::None,
            input: InputConfig::default(),
            output: OutputConfig::default(),
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            map: MapConfig::default(),
            search: SearchConfig::default(),
        }
    }
}

/// How an input field is encoded.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `basis` | searched | one basis for all components | see [`BasisSpec`] |
/// | `bases` | | one basis for each component | as many as components |
/// | `components` | `separate` | how components share coefficients | `separate`, `joint` |
/// | `space` | chosen | prescribed functions, learned ones, or both | `prescribed`, `hybrid`, `learned` |
/// | `encoder` | ridge, by GCV | the regularised least squares | see [`EncoderSpec`] |
/// | `transform` | `auto` | what happens to values and coefficients | `auto`, `none`, `log`, `standardise`, `log-standardise` |
/// | `domain` | the points' bounding box (2% wider for per-sample points) | where points may lie | one `[lower, upper]` per axis, such as `[[0, 1]]` |
/// | `periodic` | found on grids of equal steps whose values continue | whether each axis is a ring; other points than those of a grid need a `domain` of one period | `true` or `false` for each axis |
/// | `scale` | `auto` | sizes by which components are divided; `auto` brings several inputs or components to one size, but never with the recipe `paper` | `auto`, `none`, or a positive number for each component |
/// | `kinds` | all `plain` | what each value of a vector without points is | one of `plain`, `positive`, `{ periodic = P }`, `categorical` for each |
#[derive(Debug, Clone, PartialEq, Default, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputConfig {
    /// One basis for all components.
    pub basis: Option<BasisSpec>,
    /// One basis for each component.
    pub bases: Vec<BasisSpec>,
    /// Separately or jointly.
    pub components: Components,
    /// Prescribed functions, learned ones, or both.
    pub space: Option<Space>,
    /// The encoder.
    pub encoder: Option<EncoderSpec>,
    /// The transform; `None`: log for positive inputs if it validates better, else none.
    #[serde(with = "auto")]
    pub transform: Option<Transform>,
    /// The domain.
    pub domain: Option<Bounds>,
    /// Along which axes it is periodic.
    pub periodic: Option<Vec<bool>>,
    /// Sizes by which components are divided.
    pub scale: PerComponent,
    /// What each value of a vector without points is; empty: all are plain.
    pub kinds: Vec<Kind>,
}

/// How an output field is decoded.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `basis` | searched | one basis for all components | see [`BasisSpec`] |
/// | `bases` | | one basis for each component | as many as components |
/// | `components` | `separate` | how components share coefficients | `separate`, `joint` |
/// | `space` | chosen | prescribed functions, learned ones, or both | `prescribed`, `hybrid`, `learned` |
/// | `cut` | by withheld points | relative cut of the decoder's singular values | 0 to 1 |
/// | `domain` | the points' bounding box (2% wider for per-sample points) | where points may lie | one `[lower, upper]` per axis, such as `[[0, 1]]` |
/// | `periodic` | found on grids of equal steps whose values continue | whether each axis is a ring; other points than those of a grid need a `domain` of one period | `true` or `false` for each axis |
/// | `weights` | `auto` | how much relative errors of components count; with `auto` several outputs count equally, components too where their rms differ more than 100 times, but never with the recipe `paper` | `auto`, `none` (by their size), or a positive number for each component |
/// | `kinds` | all `plain` | what each value of a vector without points is | one of `plain`, `positive` for each |
#[derive(Debug, Clone, PartialEq, Default, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputConfig {
    /// One basis for all components.
    pub basis: Option<BasisSpec>,
    /// One basis for each component.
    pub bases: Vec<BasisSpec>,
    /// Separately or jointly.
    pub components: Components,
    /// Prescribed functions, learned ones, or both.
    pub space: Option<Space>,
    /// Relative cut of singular values.
    pub cut: Option<f64>,
    /// The domain.
    pub domain: Option<Bounds>,
    /// Along which axes it is periodic.
    pub periodic: Option<Vec<bool>>,
    /// How much components count.
    pub weights: PerComponent,
    /// What each value of a vector without points is; empty: all are plain.
    pub kinds: Vec<Kind>,
}

impl InputConfig {
    /// The bases that the settings name: one for all components or one for each; none if they are to be
    /// chosen.
    pub(crate) fn named_bases(&self) -> Option<Vec<BasisSpec>> {
        named_bases(self.basis.as_ref(), &self.bases)
    }
}

impl OutputConfig {
    /// As [`InputConfig::named_bases`].
    pub(crate) fn named_bases(&self) -> Option<Vec<BasisSpec>> {
        named_bases(self.basis.as_ref(), &self.bases)
    }
}

fn named_bases(basis: Option<&BasisSpec>, bases: &[BasisSpec]) -> Option<Vec<BasisSpec>> {
    match basis {
        Some(basis) => Some(vec![basis.clone()]),
        None => (!bases.is_empty()).then(|| bases.to_vec()),
    }
}

/// Where the functions of a field come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// They are prescribed.
    Prescribed,
    /// Prescribed functions, and principal directions of what they leave of the training samples.
    Hybrid,
    /// Principal directions of the training samples.
    Learned,
}

impl Space {
    /// The bases of this space with the given prescribed ones.
    pub(crate) fn of(self, prescribed: Vec<BasisSpec>) -> Vec<BasisSpec> {
        let hybrid = |prescribed: Option<BasisSpec>| {
            BasisSpec::from(HybridSpec {
                prescribed,
                ..HybridSpec::default()
            })
        };
        match self {
            Space::Prescribed => prescribed,
            Space::Hybrid => prescribed.into_iter().map(|b| hybrid(Some(b))).collect(),
            Space::Learned => vec![hybrid(None)],
        }
    }
}

/// Settings that are `auto` or a word.
mod auto {
    use serde::de::{Error, IntoDeserializer};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    const AUTO: &str = "auto";

    pub fn serialize<T: Serialize, S: Serializer>(
        given: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match given {
            None => serializer.serialize_str(AUTO),
            Some(given) => given.serialize(serializer),
        }
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let word = String::deserialize(deserializer)?;
        if word == AUTO {
            return Ok(None);
        }
        let given: Result<T, D::Error> = T::deserialize(word.into_deserializer());
        given
            .map(Some)
            .map_err(|e| D::Error::custom(format!("{e}, or `{AUTO}`")))
    }
}

/// The coefficient map.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kind` | `auto` | which map | `auto`, `linear`, `kernel`, `mlp`, `layered` |
/// | `kernel` | | settings of the kernel map | see [`KernelSpec`] |
/// | `mlp` | | settings of the network | see [`MlpSpec`] |
/// | `layered` | | settings of the layered map | see [`LayeredSpec`] |
/// | `budget` | 8,000,000 | work that `auto` may spend on a network: samples times passes over them | 0: none |
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MapConfig {
    /// Which map.
    pub kind: MapKind,
    /// Settings of the kernel map.
    pub kernel: KernelSpec,
    /// Settings of the network.
    pub mlp: MlpSpec,
    /// Settings of the layered map.
    pub layered: LayeredSpec,
    /// What `auto` may spend on a network.
    pub budget: usize,
}

impl Default for MapConfig {
    fn default() -> Self {
        MapConfig {
            kind: MapKind::default(),
            kernel: KernelSpec::default(),
            mlp: MlpSpec::default(),
            layered: LayeredSpec::default(),
            budget: 8_000_000,
        }
    }
}

impl MapConfig {
    /// Whether the map is the paper's network, which sees coefficients as they are.
    pub(crate) fn takes_raw_coefficients(&self) -> bool {
        self.kind == MapKind::Mlp && self.mlp.recipe == Recipe::Paper
    }
}

/// Which coefficient map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MapKind {
    /// The better of the others on held-out samples.
    #[default]
    Auto,
    /// Ridge regression.
    Linear,
    /// Relevance-weighted kernel regression.
    Kernel,
    /// A fully connected network.
    Mlp,
    /// Layers in a prescribed basis.
    Layered,
}

/// Limits of the search for bases.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `max_functions` | 1024 | the largest basis tried | at least 4 |
/// | `samples` | 400 | training samples used to compare bases | at least 20 |
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// The largest basis tried.
    pub max_functions: usize,
    /// Training samples used to compare bases.
    pub samples: usize,
}

impl Default for SearchConfig {
    fn default() -> Self {
        SearchConfig {
            max_functions: 1024,
            samples: 400,
        }
    }
}

impl FitConfig {
    /// Checks the ranges of the tables.
    ///
    /// # Errors
    /// Naming the setting and its value.
    pub fn check(&self) -> Result<()> {
        let bad = |text: String| Err(Error::Config(text));
        if !(self.validation > 0.0 && self.validation < 0.5) {
            return bad(format!(
                "validation = {} must lie between 0 and 0.5",
                self.validation
            ));
        }
        if !(0.0..=0.5).contains(&self.withhold) {
            return bad(format!(
                "withhold = {} must lie between 0 and 0.5",
                self.withhold
            ));
        }
        if self.search.max_functions < 4 || self.search.samples < 20 {
            return bad(format!(
                "search: max_functions = {} must be at least 4 and samples = {} at least 20",
                self.search.max_functions, self.search.samples
            ));
        }
        let both = |basis: &Option<BasisSpec>, bases: &[BasisSpec]| match basis {
            Some(_) if !bases.is_empty() => Err(Error::Config(
                "give `basis` (for all components) or `bases` (one each), not both".into(),
            )),
            _ => Ok(()),
        };
        let unused = |space: Option<Space>, bases: Option<Vec<BasisSpec>>| {
            match (space, bases) {
            (Some(Space::Learned), Some(_)) => Err(Error::Config(
                "space = \"learned\" has no prescribed functions; remove the basis or use \"hybrid\"".into(),
            )),
            _ => Ok(()),
        }
        };
        for output in self.outputs.values().chain([&self.output]) {
            both(&output.basis, &output.bases)?;
            unused(output.space, output.named_bases())?;
            if let Some(cut) = output.cut
                && !(0.0..1.0).contains(&cut)
            {
                return bad(format!("output: cut = {cut} must lie between 0 and 1"));
            }
        }
        for input in self.inputs.values().chain([&self.input]) {
            both(&input.basis, &input.bases)?;
            unused(input.space, input.named_bases())?;
            if let Some(encoder) = &input.encoder {
                encoder.given()?;
            }
        }
        self.map.kernel.check()?;
        self.map.layered.check()?;
        self.map.mlp.check()
    }

    /// How samples and points are divided, and by which seed.
    pub(crate) fn protocol(&self) -> Protocol {
        Protocol {
            seed: self.seed,
            validation: self.validation,
            withhold: self.withhold,
            symmetries: self.symmetries,
        }
    }

    /// The settings of the input field `name`.
    pub(crate) fn input_named(&self, name: &str) -> &InputConfig {
        self.inputs.get(name).unwrap_or(&self.input)
    }

    /// The settings of the output field `name`.
    pub(crate) fn output_named(&self, name: &str) -> &OutputConfig {
        self.outputs.get(name).unwrap_or(&self.output)
    }
}
