//! The tables of settings say what the code does.

use c2cnet::FitConfig;
use c2cnet::internal::{SettingGroup, groups};
use serde_json::Value;
use std::collections::BTreeSet;

/// The names in a group, without its path.
fn names(group: &SettingGroup) -> BTreeSet<String> {
    let outside = group.path.len() + usize::from(!group.path.is_empty());
    let names = group.settings.iter().map(|s| &s.name[outside..]);
    // `inputs.NAME` is an entry of the table `inputs`.
    names.map(|n| n.replace(".NAME", "")).collect()
}

/// The fields that settings have in a file, as serde lists them when it meets one that they do not have.
fn fields(group: &SettingGroup) -> BTreeSet<String> {
    let place = match group.path {
        "map.mlp.stages" => "/map/mlp/stages/0".to_string(),
        path => format!("/{}", path.replace('.', "/")),
    };
    let mut value = serde_json::json!({ "no_such_setting": 0 });
    if let Some(family) = group.family {
        value["family"] = family.into();
    }
    for part in place.split('/').rev().filter(|part| !part.is_empty()) {
        value = match part {
            "0" => Value::Array(vec![value]),
            part => Value::Object([(part.to_string(), value)].into_iter().collect()),
        };
    }
    let error = serde_json::from_value::<FitConfig>(value)
        .unwrap_err()
        .to_string();
    let (_, list) = error.split_once("expected").unwrap_or_default();
    let quoted = list.split('`').skip(1).step_by(2);
    // American spellings are accepted and not listed.
    quoted
        .filter(|name| !["centers", "max_centers", "optimizer"].contains(name))
        .map(ToString::to_string)
        .collect()
}

#[test]
fn the_tables_list_the_fields_that_settings_have() {
    for group in groups() {
        match group.path {
            // Which fields a loss has depends on its kind.
            "map.mlp.loss" => continue,
            _ => assert_eq!(
                names(&group),
                fields(&group),
                "{} {:?}",
                group.path,
                group.family
            ),
        }
    }
}

#[test]
fn defaults_that_are_values_are_those_of_the_code() {
    let value = serde_json::to_value(FitConfig::default()).unwrap();
    let mut compared = 0;
    for setting in groups()
        .iter()
        .filter(|g| g.family.is_none())
        .flat_map(|g| &g.settings)
    {
        let stated = setting.default.trim_matches('`').replace(',', "");
        let place = format!("/{}", setting.name.replace('.', "/"));
        let Some(actual) = value.pointer(&place) else {
            continue;
        };
        match actual {
            Value::Number(n) => assert_eq!(stated.parse().ok(), n.as_f64(), "{}", setting.name),
            Value::Bool(b) => assert_eq!(stated, b.to_string(), "{}", setting.name),
            Value::String(s) => assert_eq!(&stated, s, "{}", setting.name),
            _ => continue,
        }
        compared += 1;
    }
    assert!(compared >= 20, "{compared}");
}

#[test]
fn every_setting_says_what_it_is_for_and_no_link_is_left() {
    let all = groups();
    assert!(all.iter().map(|g| g.settings.len()).sum::<usize>() > 80);
    for group in &all {
        assert!(
            group.about.ends_with(['.', ';']) || group.about.contains(". "),
            "{}",
            group.about
        );
        for s in &group.settings {
            assert!(!s.purpose.is_empty(), "{}", s.name);
            for text in [&s.default, &s.purpose, &s.range] {
                assert!(!text.contains("[`"), "{}: {text}", s.name);
            }
        }
    }
}
