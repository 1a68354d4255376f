//! A model that could not be read again is not written, and what there was stays.

use c2cnet::basis::{self, Basis, BasisFamily, BuildContext, Design};
use c2cnet::data::{Bounds, Dataset, Field, Points};
use c2cnet::faer::Mat;
use c2cnet::{C2CNet, FitConfig, Result, Silent, fit};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ForgetfulSpec {}

/// Constants and lines, in a basis whose author forgot that files are read, too.
#[derive(Debug, Serialize, Deserialize)]
struct Forgetful {
    domain: Bounds,
    #[serde(skip_serializing)]
    functions: usize,
}

impl BasisFamily for ForgetfulSpec {
    const NAME: &'static str = "forgetful";
    type Basis = Forgetful;

    fn build(&self, context: BuildContext<'_>) -> Result<Forgetful> {
        Ok(Forgetful {
            domain: context.domain.clone(),
            functions: 2,
        })
    }
}

impl Basis for Forgetful {
    fn family(&self) -> &'static str {
        ForgetfulSpec::NAME
    }

    fn len(&self) -> usize {
        self.functions
    }

    fn domain(&self) -> &Bounds {
        &self.domain
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, self.family())?;
        let value = |i: usize, j: usize| points.point(i)[0].powi(j as i32);
        Ok(Design::Dense(Mat::from_fn(points.len(), self.len(), value)))
    }

    fn describe(&self) -> String {
        "forgetful".into()
    }
}

#[test]
fn a_model_that_cannot_be_loaded_is_not_written() {
    basis::register::<ForgetfulSpec>().unwrap();
    let points = Points::linspace(0.0, 1.0, 20);
    let lines = Mat::from_fn(20, 12, |i, k| 1.0 + ((k * k) as f64).sin() * i as f64);
    let field = || Field::shared(points.clone(), vec![lines.clone()]).unwrap();
    let data = Dataset::new(field(), field()).unwrap();
    let settings = serde_json::json!({
        "input": {"basis": {"family": "polynomial", "functions": 2}},
        "output": {"basis": {"family": "forgetful"}, "space": "prescribed"},
        "map": {"kind": "linear"},
    });
    let config: FitConfig = serde_json::from_value(settings).unwrap();
    let (model, report) = fit(&data, &config, &Silent).unwrap();
    assert!(report.validation.rl2e < 1e-6);

    let path = std::env::temp_dir().join(format!("c2cnet-unreadable-{}.c2c", std::process::id()));
    std::fs::write(&path, "what there was").unwrap();
    let message = model.save(&path).unwrap_err().to_string();
    assert!(
        message.contains("not written, because it could not be read back"),
        "{message}"
    );
    assert!(message.contains("functions"), "{message}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "what there was");
    std::fs::remove_file(&path).unwrap();
    assert!(C2CNet::from_bytes(&model.to_bytes().unwrap()).is_err());
}
