//! What a problem is, and the list of them.

use crate::Watcher;
use c2cnet::data::Dataset;
use c2cnet::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A law of input functions and the operator that maps them to outputs.
///
/// The implementing type holds the settings. Derive its `Deserialize` with
/// `#[serde(default, deny_unknown_fields)]`, so that users may give some of them and misspelt ones are refused.
pub trait Problem: Default + Serialize + DeserializeOwned {
    /// Its name in commands and settings.
    const NAME: &'static str;
    /// The equation and what is mapped to what, in one line.
    const DESCRIPTION: &'static str;

    /// The samples. Sample `k` may depend on the settings, `seed` and `k` only; `meta` is filled
    /// in by [`Problem::generate`].
    ///
    /// # Errors
    /// If a setting is out of range, naming it and the range, or the watcher asks to stop.
    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset>;

    /// The samples, with `meta` saying how they were made.
    ///
    /// # Errors
    /// As [`Problem::samples`].
    fn generate(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        let mut dataset = self.samples(seed, watcher)?;
        dataset.meta = json!({
            "problem": Self::NAME,
            "description": Self::DESCRIPTION,
            "settings": settings_value(self)?,
            "seed": seed,
            "version": env!("CARGO_PKG_VERSION"),
        });
        Ok(dataset)
    }
}

/// A problem whose type is known only by name.
#[derive(Debug, Clone, Copy)]
pub struct AnyProblem {
    /// Its name in commands and settings.
    pub name: &'static str,
    /// The equation and what is mapped to what, in one line.
    pub description: &'static str,
    defaults: fn() -> Result<Value>,
    generate: fn(Value, u64, &dyn Watcher) -> Result<Dataset>,
}

impl AnyProblem {
    fn of<P: Problem>() -> AnyProblem {
        AnyProblem {
            name: P::NAME,
            description: P::DESCRIPTION,
            defaults: || settings_value(&P::default()),
            generate: |settings, seed, watcher| parse::<P>(settings)?.generate(seed, watcher),
        }
    }

    /// All settings with their default values.
    ///
    /// # Errors
    /// If a setting cannot be written as JSON.
    pub fn defaults(&self) -> Result<Value> {
        (self.defaults)()
    }

    /// Name, description and default settings.
    ///
    /// # Errors
    /// As [`Self::defaults`].
    pub fn describe(&self) -> Result<Value> {
        Ok(json!({
            "name": self.name,
            "description": self.description,
            "settings": self.defaults()?,
        }))
    }

    /// The data set for `settings`, an object of those that differ from the defaults (or null).
    ///
    /// # Errors
    /// If a setting is unknown, of the wrong type or out of range.
    pub fn generate(&self, settings: Value, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        (self.generate)(settings, seed, watcher)
    }
}

/// All problems.
pub fn problems() -> Vec<AnyProblem> {
    vec![
        AnyProblem::of::<crate::Darcy1d>(),
        AnyProblem::of::<crate::Darcy2d>(),
        AnyProblem::of::<crate::PoissonHoles>(),
        AnyProblem::of::<crate::ElasticPlate>(),
        AnyProblem::of::<crate::DarcyLshape>(),
        AnyProblem::of::<crate::KdvBurgers>(),
        AnyProblem::of::<crate::Helmholtz>(),
        AnyProblem::of::<crate::Poisson10d>(),
        AnyProblem::of::<crate::StokesInverse>(),
        AnyProblem::of::<crate::AdvectedSquare>(),
        AnyProblem::of::<crate::NonlinearDiffusion>(),
        AnyProblem::of::<crate::NavierStokes>(),
    ]
}

/// The data set of the problem called `name`; see [`AnyProblem::generate`].
///
/// # Errors
/// If no problem has that name, a setting is invalid, or the watcher asks to stop.
pub fn generate(name: &str, settings: Value, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
    let all = problems();
    match all.iter().find(|problem| problem.name == name) {
        Some(problem) => problem.generate(settings, seed, watcher),
        None => {
            let names: Vec<&str> = all.iter().map(|problem| problem.name).collect();
            Err(Error::Config(format!(
                "unknown problem `{name}`; known problems are {}",
                names.join(", ")
            )))
        }
    }
}

fn parse<P: Problem>(settings: Value) -> Result<P> {
    if settings.is_null() {
        return Ok(P::default());
    }
    serde_json::from_value(settings)
        .map_err(|e| Error::Config(format!("settings of problem {}: {e}", P::NAME)))
}

fn settings_value<P: Problem>(problem: &P) -> Result<Value> {
    serde_json::to_value(problem)
        .map_err(|e| Error::Config(format!("settings of problem {}: {e}", P::NAME)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;

    #[test]
    fn meta_says_how_the_data_was_made() {
        let data = generate(
            "darcy1d",
            json!({"n_train": 2, "n_test": 1, "points": 50}),
            7,
            &Unwatched,
        )
        .unwrap();
        let meta = &data.meta;
        assert_eq!((data.samples(), data.n_train), (3, Some(2)));
        assert_eq!(meta["problem"], "darcy1d");
        assert_eq!(meta["seed"], 7);
        assert_eq!(meta["settings"]["points"], 50);
        assert_eq!(meta["settings"]["kernel"], "printed");
        // The settings in a file make that file again.
        let again = generate("darcy1d", meta["settings"].clone(), 7, &Unwatched).unwrap();
        assert_eq!(again.meta, data.meta);
    }

    #[test]
    fn wrong_names_and_settings_are_named() {
        for (name, settings, parts) in [
            ("darcy", json!(null), ["`darcy`", "darcy1d"]),
            ("darcy1d", json!({"lenght": 0.1}), ["`lenght`", "`length`"]),
            (
                "darcy1d",
                json!({"points": "many"}),
                ["settings of problem darcy1d", "many"],
            ),
            (
                "darcy1d",
                json!({"kernel": "other"}),
                ["`other`", "`printed`"],
            ),
            ("darcy1d", json!({"points": 2}), ["points = 2", "3 to"]),
            ("darcy1d", json!({"length": 0.0}), ["length = 0", "0.002"]),
            (
                "darcy1d",
                json!({"sigma": -1.0}),
                ["sigma = -1", "positive"],
            ),
            (
                "darcy1d",
                json!({"n_train": 0}),
                ["n_train = 0", "at least 1"],
            ),
        ] {
            let message = generate(name, settings, 0, &Unwatched)
                .unwrap_err()
                .to_string();
            for part in parts {
                assert!(message.contains(part), "{message:?} lacks {part:?}");
            }
        }
    }

    #[test]
    fn names_are_unique_and_defaults_are_objects() {
        let all = problems();
        for (i, problem) in all.iter().enumerate() {
            assert!(problem.defaults().unwrap().is_object());
            assert!(all[..i].iter().all(|other| other.name != problem.name));
        }
    }
}
