//! The figures that explain the method; they need no training.

mod bases;
mod meshes;
mod schedules;
mod stokes_flow;
mod workflow;

use crate::run_files::{Files, Picture};
use c2cnet::basis::{Basis, BasisSpec, BuildContext};
use c2cnet::data::Bounds;
use c2cnet::{Error, Result};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Draws all of them into the experiment's folder `out`.
///
/// # Errors
/// If a flow cannot be solved or a file cannot be written.
pub fn methods(out: &Path) -> Result<Vec<Picture>> {
    let figures = [
        workflow::figure()?,
        bases::figure()?,
        schedules::figure(),
        meshes::poisson_holes()?,
        meshes::elastic_plate()?,
        meshes::darcy_lshape()?,
        stokes_flow::figure()?,
    ];
    let write = |(picture, svg): (Picture, String)| {
        let files = Files::write(out, &picture.id, &svg)?;
        Ok(Picture { files, ..picture })
    };
    figures.into_iter().map(write).collect()
}

/// A basis on the unit interval; its settings are part of the program.
fn basis(settings: Value) -> Result<Arc<dyn Basis>> {
    let spec: BasisSpec = serde_json::from_value(settings)
        .map_err(|e| Error::Config(format!("the basis of a figure: {e}")))?;
    spec.build(BuildContext::on(&Bounds::unit(1)))
}

/// What surrounds a drawing.
fn picture(id: &str, label: &str, title: &str, caption: &str) -> Picture {
    Picture {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        label: Some(label.into()),
        ..Picture::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_drawn_twice_and_has_its_label() {
        let folder = tempfile::tempdir().unwrap();
        let figures = methods(folder.path()).unwrap();
        let labels: Vec<&str> = figures.iter().filter_map(|f| f.label.as_deref()).collect();
        assert_eq!(
            labels,
            [
                "fig:workflow_FB-C2CNet",
                "fig:1d_basis",
                "fig:learning_rate",
                "fig:2d_Poi_point",
                "fig:elasticplateoutputgridandelement",
                "fig:DarcyLshapegridpoints",
                "fig:stokes_forward_sensor_setting",
            ]
        );
        for figure in &figures {
            let svg = std::fs::read_to_string(folder.path().join(&figure.files.svg)).unwrap();
            assert!(
                svg.starts_with("<svg") && !svg.contains("NaN"),
                "{}",
                figure.id
            );
            let png = folder.path().join(figure.files.png.as_ref().unwrap());
            assert!(std::fs::read(png).unwrap().starts_with(b"\x89PNG"));
        }
    }
}
