//! The example of a basis of one's own does what it says, and the basis is one.

#[path = "../examples/new_basis.rs"]
mod new_basis;

use c2cnet::basis::{BasisFamily, BasisSpec, BuildContext, conformance, register};
use c2cnet::data::Bounds;
use new_basis::DecaysSpec;

#[test]
fn the_example_runs() {
    new_basis::main().unwrap();
}

#[test]
fn the_basis_conforms() {
    register::<DecaysSpec>().unwrap();
    let domain = Bounds::new(vec![[-1.0, 2.0]]).unwrap();
    let spec = DecaysSpec {
        functions: 5,
        rate: 3.0,
    };
    let basis = BasisFamily::build(&spec, BuildContext::on(&domain)).unwrap();
    conformance::check(&basis, <[f64]>::to_vec);
}

#[test]
fn settings_of_a_registered_family_are_checked_as_any() {
    register::<DecaysSpec>().unwrap();
    let read = |json| serde_json::from_value::<BasisSpec>(json).map_err(|e| e.to_string());
    let spec = read(serde_json::json!({"family": "decays", "functions": 5})).unwrap();
    assert_eq!(spec.family(), "decays");
    let again = read(serde_json::to_value(&spec).unwrap()).unwrap();
    assert_eq!(again, spec);
    let message = read(serde_json::json!({"family": "decays", "function": 5})).unwrap_err();
    assert!(message.contains("unknown field `function`"), "{message}");
    let message = read(serde_json::json!({"family": "decay", "functions": 5})).unwrap_err();
    assert!(
        message.contains("`decay` is unknown") && message.contains("`decays`"),
        "{message}"
    );
}

/// Another type cannot take a name.
#[test]
fn names_are_taken_once() {
    #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Other(DecaysSpec);
    impl BasisFamily for Other {
        const NAME: &'static str = "fourier";
        type Basis = new_basis::Decays;
        fn build(&self, context: BuildContext<'_>) -> c2cnet::Result<new_basis::Decays> {
            BasisFamily::build(&self.0, context)
        }
    }
    let message = register::<Other>().unwrap_err().to_string();
    assert!(
        message.contains("\"fourier\" is already registered"),
        "{message}"
    );
}
