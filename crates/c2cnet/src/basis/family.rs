//! Families of bases: their settings, the bases built from them, and where a search should look.
//!
//! A family is registered under its name, which is `family` in settings and model files. The families of
//! this crate are registered from the start; [`register`] adds others.

use super::{Basis, Bounds, FiniteElementsSpec, FourierSpec, HybridSpec, LaplaceSpec, MixedSpec};
use super::{
    PcaSpec, PointValuesSpec, Points, PolynomialSpec, RadialSpec, RandomFeaturesSpec,
    SingleValueSpec,
};
use crate::Result;
use crate::cite::Reference;
use crate::storage::{Record, Registry, Storable, serialize_tagged, split_tag};
use faer::MatRef;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// What a family of bases must provide. The type that implements it is the family's settings.
pub trait BasisFamily:
    Clone + PartialEq + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The family's name, such as `"fourier"`.
    const NAME: &'static str;

    /// Whether functions may be nearly dependent, so that the choice of regularisation matters and coefficients
    /// say little about the function. Those of other families are orthogonal or local.
    const NEARLY_DEPENDENT: bool = false;

    /// Whether reflections of the box turn each function into itself or its negative, so that a space holds the images
    /// of all that it holds.
    const MIRRORED: bool = false;

    /// Whether [`BasisFamily::ladders`] has functions that continue across periodic sides of a domain; only such
    /// families are searched there.
    const SEARCHED_ON_RINGS: bool = false;

    /// The documentation of the settings, with a Name / Default / Purpose / Range table, which
    /// `c2cnet settings` lists; `documented::Documented` derives it from the comments.
    const DOCUMENTATION: &'static str = "";

    /// The bases that the settings describe.
    type Basis: Basis + Serialize + DeserializeOwned + 'static;

    /// Builds the basis.
    ///
    /// # Errors
    /// If the settings do not fit the domain or the data.
    fn build(&self, context: BuildContext<'_>) -> Result<Self::Basis>;

    /// Whether the basis is made from training values, so that each component has its own.
    fn depends_on_values(&self) -> bool {
        false
    }

    /// The settings for a component of a joint basis: random draws differ between components, because equal
    /// functions could not distinguish them.
    fn for_component(&self, _component: usize) -> Self {
        self.clone()
    }

    /// What one of its functions is called in reports and messages, such as `"Legendre polynomial"`.
    fn noun(&self) -> String {
        format!("{} function", Self::NAME)
    }

    /// The plural of [`BasisFamily::noun`].
    fn nouns(&self) -> String {
        format!("{}s", self.noun())
    }

    /// What to cite for a basis with these settings.
    fn references(&self) -> Vec<Reference> {
        Vec::new()
    }

    /// The ladders that a search climbs; a family without any is never searched.
    fn ladders(_request: &LadderRequest<'_>) -> Vec<Ladder> {
        Vec::new()
    }
}

/// What a basis may be built from.
#[derive(Debug, Clone, Copy)]
pub struct BuildContext<'a> {
    /// The box on which the basis is needed.
    pub domain: &'a Bounds,
    /// Points shared by all training samples, if there are any.
    pub points: Option<&'a Points>,
    /// Training values at those points, one column per sample.
    pub values: Option<MatRef<'a, f64>>,
    /// Triangles of a mesh on those points.
    pub triangles: Option<&'a [[usize; 3]]>,
}

impl<'a> BuildContext<'a> {
    /// A box and nothing else, which is enough for most bases.
    pub fn on(domain: &'a Bounds) -> Self {
        BuildContext {
            domain,
            points: None,
            values: None,
            triangles: None,
        }
    }
}

/// For what a search wants candidates.
#[derive(Debug, Clone, Copy)]
pub struct LadderRequest<'a> {
    /// The box on which a basis is needed.
    pub domain: &'a Bounds,
    /// Whether the domain does not fill its box.
    pub irregular: bool,
    /// The seed of random draws.
    pub seed: u64,
}

/// Bases of one family in growing sizes, everything but the size settled.
#[derive(Clone)]
pub struct Ladder {
    by_size: Arc<dyn Fn(usize) -> Option<BasisSpec> + Send + Sync>,
    by_stretch: Arc<dyn Fn(usize, f64) -> Option<BasisSpec> + Send + Sync>,
}

impl fmt::Debug for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ladder")
            .field(&self.spec(Self::SIZES[0]))
            .finish()
    }
}

impl Ladder {
    const SIZES: [usize; 19] = [
        8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 400, 576, 784, 1024, 1600, 2048, 3072, 4096,
    ];

    /// The bases with about a given number of functions; `None` where the family has no such basis.
    pub fn new(by_size: impl Fn(usize) -> Option<BasisSpec> + Send + Sync + 'static) -> Self {
        Ladder {
            by_size: Arc::new(by_size),
            by_stretch: Arc::new(|_, _| None),
        }
    }

    /// The same with variants in the plane: the bases with about a given number of functions, and a given number of times
    /// as many along the first axis for each along the second; `None` where an axis would have none. A search tries
    /// them near the size that did best, where the field may vary faster along one axis.
    ///
    /// ```
    /// use c2cnet::basis::{BasisSpec, FourierKind, FourierSpec, Ladder};
    ///
    /// let waves = |size: usize, stretch: f64| -> Option<BasisSpec> {
    ///     let modes = [size as f64 * stretch, size as f64 / stretch].map(|m| m.sqrt() as usize);
    ///     let spec = FourierSpec {
    ///         kind: FourierKind::Cosine,
    ///         modes: Some(modes.to_vec()),
    ///         functions: None,
    ///     };
    ///     (!modes.contains(&0)).then(|| spec.into())
    /// };
    /// let ladder = Ladder::new(move |size| waves(size, 1.0)).with_stretch(waves);
    /// ```
    #[must_use]
    pub fn with_stretch(
        mut self,
        by_stretch: impl Fn(usize, f64) -> Option<BasisSpec> + Send + Sync + 'static,
    ) -> Self {
        self.by_stretch = Arc::new(by_stretch);
        self
    }

    /// Sizes to try, growing, at most `largest`.
    pub(crate) fn sizes(largest: usize) -> Vec<usize> {
        let small = |s: &usize| *s <= largest;
        let sizes: Vec<usize> = Self::SIZES.into_iter().filter(small).collect();
        if sizes.is_empty() {
            vec![largest]
        } else {
            sizes
        }
    }

    /// The settings with about `size` functions, if there are any.
    pub(crate) fn spec(&self, size: usize) -> Option<BasisSpec> {
        (self.by_size)(size)
    }

    /// The settings with about `size` functions in the plane, `stretch` times as many along the first axis for
    /// each along the second as [`Ladder::spec`] has; `None` if an axis would have none.
    pub(crate) fn stretched(&self, size: usize, stretch: f64) -> Option<BasisSpec> {
        (self.by_stretch)(size, stretch)
    }
}

/// Two whole numbers of about this product and ratio; `None` if one would be less than 1.
pub(super) fn split_product(product: f64, ratio: f64) -> Option<Vec<usize>> {
    let counts = [(product * ratio).sqrt(), (product / ratio).sqrt()];
    let enough = counts.iter().all(|c| *c >= 0.75);
    enough.then(|| counts.map(|c| c.round().max(1.0) as usize).to_vec())
}

/// What the registry knows of a family.
#[derive(Clone, Copy)]
struct Entry {
    name: &'static str,
    documentation: &'static str,
    nearly_dependent: bool,
    searched_on_rings: bool,
    settings: fn(serde_json::Value) -> serde_json::Result<BasisSpec>,
    basis: fn(Record) -> Result<Box<dyn Basis>>,
    ladders: fn(&LadderRequest<'_>) -> Vec<Ladder>,
}

/// In the order of a search: the cheapest to explain first.
static FAMILIES: LazyLock<Registry<Entry>> = LazyLock::new(|| {
    let registry = Registry::new("basis family", Some("c2cnet::basis::register"));
    let first = [
        add::<FourierSpec>,
        add::<PolynomialSpec>,
        add::<MixedSpec>,
        add::<RandomFeaturesSpec>,
        add::<FiniteElementsSpec>,
        add::<RadialSpec>,
        add::<LaplaceSpec>,
        add::<PointValuesSpec>,
        add::<HybridSpec>,
        add::<PcaSpec>,
        add::<SingleValueSpec>,
    ];
    for add in first {
        add(&registry).expect("the names of the crate's families differ");
    }
    registry
});

fn add<F: BasisFamily>(registry: &Registry<Entry>) -> Result<()> {
    let entry = Entry {
        name: F::NAME,
        documentation: F::DOCUMENTATION,
        nearly_dependent: F::NEARLY_DEPENDENT,
        searched_on_rings: F::SEARCHED_ON_RINGS,
        settings: |value| serde_json::from_value::<F>(value).map(BasisSpec::from),
        basis: |record| Ok(Box::new(record.restore::<F::Basis>()?)),
        ladders: F::ladders,
    };
    registry.add::<F>(F::NAME, entry)
}

/// Makes a family known to settings, model files and the search. Registering twice is harmless.
///
/// # Errors
/// If another family has the name.
pub fn register<F: BasisFamily>() -> Result<()> {
    add::<F>(&FAMILIES)
}

/// The ladders of all families on `domain`, in the order of their registration. `irregular` says that the domain
/// does not fill its box.
pub(crate) fn ladders(domain: &Bounds, irregular: bool, seed: u64) -> Vec<Ladder> {
    let request = LadderRequest {
        domain,
        irregular,
        seed,
    };
    let families = FAMILIES.all().into_iter();
    families
        .filter(|family| family.searched_on_rings || !domain.has_period())
        .flat_map(|family| (family.ladders)(&request))
        .collect()
}

/// The name and the documentation of every family, in the order of their registration.
pub(crate) fn documentation() -> Vec<(&'static str, &'static str)> {
    let families = FAMILIES.all().into_iter();
    families
        .map(|family| (family.name, family.documentation))
        .collect()
}

/// Whether the functions of a basis may be nearly dependent, as its family says.
pub(crate) fn nearly_dependent(basis: &dyn Basis) -> bool {
    FAMILIES
        .find(basis.family())
        .is_ok_and(|f| f.nearly_dependent)
}

/// A basis as written in settings: the settings of some registered family, which `family` names.
#[derive(Clone)]
pub struct BasisSpec(Arc<dyn Settings>);

/// [`BasisFamily`] without its types.
trait Settings: Storable + fmt::Debug + Send + Sync {
    fn family(&self) -> &'static str;
    fn as_any(&self) -> &dyn Any;
    fn equals(&self, other: &BasisSpec) -> bool;
    fn depends_on_values(&self) -> bool;
    fn nearly_dependent(&self) -> bool;
    fn mirrored(&self) -> bool;
    fn for_component(&self, component: usize) -> BasisSpec;
    fn noun(&self) -> String;
    fn nouns(&self) -> String;
    fn references(&self) -> Vec<Reference>;
    fn build(&self, context: BuildContext<'_>) -> Result<Box<dyn Basis>>;
}

impl<F: BasisFamily> Settings for F {
    fn family(&self) -> &'static str {
        F::NAME
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &BasisSpec) -> bool {
        other.0.as_any().downcast_ref::<F>() == Some(self)
    }

    fn depends_on_values(&self) -> bool {
        BasisFamily::depends_on_values(self)
    }

    fn nearly_dependent(&self) -> bool {
        F::NEARLY_DEPENDENT
    }

    fn mirrored(&self) -> bool {
        F::MIRRORED
    }

    fn for_component(&self, component: usize) -> BasisSpec {
        BasisFamily::for_component(self, component).into()
    }

    fn noun(&self) -> String {
        BasisFamily::noun(self)
    }

    fn nouns(&self) -> String {
        BasisFamily::nouns(self)
    }

    fn references(&self) -> Vec<Reference> {
        BasisFamily::references(self)
    }

    fn build(&self, context: BuildContext<'_>) -> Result<Box<dyn Basis>> {
        Ok(Box::new(BasisFamily::build(self, context)?))
    }
}

impl<F: BasisFamily> From<F> for BasisSpec {
    fn from(settings: F) -> Self {
        BasisSpec(Arc::new(settings))
    }
}

impl BasisSpec {
    /// The family's name.
    pub fn family(&self) -> &'static str {
        self.0.family()
    }

    /// [`BasisFamily::depends_on_values`].
    pub(crate) fn depends_on_values(&self) -> bool {
        self.0.depends_on_values()
    }

    /// The settings, if they are those of the family `F`.
    pub(super) fn settings<F: BasisFamily>(&self) -> Option<&F> {
        self.0.as_any().downcast_ref()
    }

    /// [`BasisFamily::MIRRORED`].
    pub(crate) fn mirrored(&self) -> bool {
        self.0.mirrored()
    }

    /// [`BasisFamily::NEARLY_DEPENDENT`].
    pub(crate) fn nearly_dependent(&self) -> bool {
        self.0.nearly_dependent()
    }

    /// [`BasisFamily::for_component`].
    #[must_use]
    pub(crate) fn for_component(&self, component: usize) -> BasisSpec {
        self.0.for_component(component)
    }

    /// [`BasisFamily::noun`].
    pub(crate) fn noun(&self) -> String {
        self.0.noun()
    }

    /// [`BasisFamily::nouns`].
    pub(crate) fn nouns(&self) -> String {
        self.0.nouns()
    }

    /// [`BasisFamily::references`].
    pub(crate) fn references(&self) -> Vec<Reference> {
        self.0.references()
    }

    /// Builds the basis.
    ///
    /// # Errors
    /// If the settings do not fit the domain or the data.
    pub fn build(&self, context: BuildContext<'_>) -> Result<Arc<dyn Basis>> {
        self.0.build(context).map(Arc::from)
    }

    pub(super) fn build_boxed(&self, context: BuildContext<'_>) -> Result<Box<dyn Basis>> {
        self.0.build(context)
    }
}

impl fmt::Debug for BasisSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for BasisSpec {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other)
    }
}

const TAG: &str = "family";

impl Serialize for BasisSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serialize_tagged(&*self.0, TAG, self.family(), serializer)
    }
}

impl<'de> Deserialize<'de> for BasisSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut fields = serde_json::Map::<String, serde_json::Value>::deserialize(deserializer)?;
        let name = match fields.remove(TAG) {
            Some(serde_json::Value::String(name)) => name,
            Some(other) => {
                let words = format!("`family` must be the name of a basis family, not {other}");
                return Err(D::Error::custom(words));
            }
            None => return Err(D::Error::missing_field(TAG)),
        };
        let family = FAMILIES.find(&name).map_err(D::Error::custom)?;
        (family.settings)(fields.into()).map_err(D::Error::custom)
    }
}

impl Serialize for dyn Basis + '_ {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serialize_tagged(self, TAG, self.family(), serializer)
    }
}

impl<'de> Deserialize<'de> for Box<dyn Basis> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let (name, record) = split_tag(TAG, deserializer)?;
        let family = FAMILIES.find(&name).map_err(D::Error::custom)?;
        (family.basis)(record).map_err(|e| D::Error::custom(format!("basis {name}: {e}")))
    }
}
