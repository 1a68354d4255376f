//! A basis of one's own in one file: exponential decays, for fields with a layer at one end.
//!
//! After `basis::register` settings name it, the search of a fit tries it, and model files hold it.

use c2cnet::Result;
use c2cnet::basis::{self, Basis, BasisFamily, BuildContext, Design, Ladder, LadderRequest};
use c2cnet::data::{Bounds, Dataset, Field, Points};
use c2cnet::{C2CNet, FitConfig, Silent, diagnose, fit};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// Settings of a basis of decays.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `functions` | | how many functions, $m$ | at least 1 |
/// | `rate` | 40 | the decay of the second function over the interval | positive |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecaysSpec {
    pub functions: usize,
    #[serde(default = "default_rate")]
    pub rate: f64,
}

fn default_rate() -> f64 {
    40.0
}

impl BasisFamily for DecaysSpec {
    const NAME: &'static str = "decays";
    type Basis = Decays;

    fn build(&self, context: BuildContext<'_>) -> Result<Decays> {
        if context.domain.dim() != 1 || self.functions == 0 || self.rate <= 0.0 {
            return Err(c2cnet::Error::Config(format!(
                "decays: {self:?} needs an interval, a function and a positive rate"
            )));
        }
        Ok(Decays {
            domain: context.domain.clone(),
            spec: self.clone(),
        })
    }

    /// Beyond some twenty functions the next is a needle at the end.
    fn ladders(request: &LadderRequest<'_>) -> Vec<Ladder> {
        let spec = |functions| DecaysSpec {
            functions,
            rate: default_rate(),
        };
        let ladder = Ladder::new(move |size| (size <= 24).then(|| spec(size).into()));
        if request.domain.dim() == 1 {
            vec![ladder]
        } else {
            Vec::new()
        }
    }
}

/// $\varphi_j(x) = e^{-(j-1) r t}$ with $t = (x - l)/(u - l)$.
#[derive(Debug, Serialize, Deserialize)]
pub struct Decays {
    domain: Bounds,
    spec: DecaysSpec,
}

impl Basis for Decays {
    fn family(&self) -> &'static str {
        DecaysSpec::NAME
    }

    fn len(&self) -> usize {
        self.spec.functions
    }

    fn domain(&self) -> &Bounds {
        &self.domain
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, self.family())?;
        let t = |i: usize| (points.point(i)[0] - self.domain.lower(0)) / self.domain.width(0);
        let value = |i: usize, j: usize| (-(j as f64) * self.spec.rate * t(i)).exp();
        Ok(Design::Dense(Mat::from_fn(points.len(), self.len(), value)))
    }

    fn describe(&self) -> String {
        format!("{} decays of rate {}", self.len(), self.spec.rate)
    }
}

/// Layers $f = \sum_k a_k e^{-40kt}$ and their images $u = \sum_k \frac{a_k}{k+1} e^{-40kt}$, $k < 8$.
fn layers(samples: usize) -> Result<Dataset> {
    let points = Points::linspace(0.0, 1.0, 400);
    let amplitude = |k: usize, sample: usize| ((3 * k + 1) as f64 * (sample as f64 + 0.5)).sin();
    let field = |weight: fn(usize) -> f64| {
        let sum = |i: usize, sample: usize| {
            let decay = |k: usize| (-40.0 * k as f64 * points.point(i)[0]).exp();
            let terms = (0..8).map(|k| weight(k) * amplitude(k, sample) * decay(k));
            terms.sum()
        };
        Field::shared(points.clone(), vec![Mat::from_fn(400, samples, sum)])
    };
    Dataset::new(field(|_| 1.0)?, field(|k| 1.0 / (k + 1) as f64)?)
}

pub fn main() -> Result<()> {
    basis::register::<DecaysSpec>()?;
    let data = layers(80)?;

    // The search finds it; no setting names a basis.
    let (model, report) = fit(&data, &FitConfig::default(), &Silent)?;
    let chosen = &model.summary().outputs[0].basis;
    println!(
        "output basis: {chosen}; held-out error {:.1e}",
        report.validation.rl2e
    );
    assert_eq!(chosen, "8 decays of rate 40");
    assert!(report.validation.rl2e < 1e-6);

    // A model file holds it, to the last bit.
    let loaded = C2CNet::from_bytes(&model.to_bytes()?)?;
    let at = Points::linspace(0.0, 1.0, 37);
    let [a, b] = [&model, &loaded].map(|m| m.predict(&data.inputs, &at));
    assert!(a? == b?);

    // So does `diagnose`, and recommends it.
    let floors = diagnose::floors(&model, &data, &FitConfig::default(), &Silent)?;
    let recommended = &floors[0].all[floors[0].recommended];
    assert!(
        recommended.family.contains("decays"),
        "{}",
        recommended.family
    );

    // Settings name it as any other.
    let settings = serde_json::json!({"output": {"basis": {"family": "decays", "functions": 8, "rate": 30.0}}});
    let config: FitConfig = serde_json::from_value(settings).expect("settings of a fit");
    let (model, _) = fit(&data, &config, &Silent)?;
    assert_eq!(model.summary().outputs[0].basis, "8 decays of rate 30");
    Ok(())
}
