//! Sample points and meshes of the problems on domains with corners and holes.

use super::picture;
use crate::run_files::Picture;
use c2cnet::basis::{Basis, BuildContext, Degree, FiniteElements, FiniteElementsSpec, MeshSpec};
use c2cnet::data::{Bounds, Dataset, Points};
use c2cnet::domain::{Polygon, TriangleMesh};
use c2cnet::{Error, Result};
use c2cnet_figure::colour::{BLUE, GREEN, Rgb, VERMILLION};
use c2cnet_figure::{Dash, Figure, Panel, Series};
use c2cnet_problems::{
    DarcyLshape, ElasticPlate, PoissonHoles, Problem, Unwatched, darcy_lshape, elastic_plate,
    poisson_holes,
};

const AXES: [&str; 2] = ["x_{1}", "x_{2}"];

pub fn poisson_holes() -> Result<(Picture, String)> {
    let domain = poisson_holes::domain()?;
    // One sample is enough: they share their points.
    let settings = PoissonHoles {
        n_train: 1,
        n_test: 0,
        reference: 8_000,
        ..PoissonHoles::default()
    };
    let points = output_points(&settings.samples(0, &Unwatched)?)?;
    let figure = Figure::new("Poisson, three holes")
        .panel_size(270.0, 250.0)
        .panel(of_points("sample points", &points, BLUE))
        .panel(of_mesh("encoder’s mesh", &mesh(&domain, 533)?))
        .panel(of_mesh("decoder’s mesh", &mesh(&domain, 1586)?));
    let picture = picture(
        "poisson-holes-points",
        "fig:2d_Poi_point",
        "Poisson, three holes: points and meshes",
        "Points at which input and output are given, and finite-element meshes with about as many nodes as \
         the paper’s (533 and 1,586).",
    );
    Ok((picture, figure.to_svg()))
}

pub fn elastic_plate() -> Result<(Picture, String)> {
    let domain = elastic_plate::domain(None)?;
    let settings = ElasticPlate {
        n_train: 1,
        n_test: 0,
        reference: 5_000,
        ..ElasticPlate::default()
    };
    let points = output_points(&settings.samples(0, &Unwatched)?)?;
    let first = mesh(&domain, 540)?;
    let second = turned(&mesh(&turned_polygon(&domain)?, 540)?)?;
    let figure = Figure::new("Elastic plate")
        .panel_size(270.0, 250.0)
        .panel(of_points("output points", &points, BLUE))
        .panel(of_mesh("mesh of u", &first))
        .panel(of_mesh("another mesh, of v", &second));
    let picture = picture(
        "elastic-plate-points",
        "fig:elasticplateoutputgridandelement",
        "Elastic plate: points and meshes",
        "Points at which the displacements are given, and two finite-element meshes of the plate with about \
         540 nodes each, for the two displacements. The second is made on the plate turned by a quarter.",
    );
    Ok((picture, figure.to_svg()))
}

pub fn darcy_lshape() -> Result<(Picture, String)> {
    let settings = DarcyLshape {
        n_train: 1,
        n_test: 0,
        ..DarcyLshape::default()
    };
    let data = settings.samples(0, &Unwatched)?;
    let inputs = shared(data.inputs[0].1.shared_points())?;
    let figure = Figure::new("L-shaped Darcy flow")
        .panel_size(270.0, 250.0)
        .panel(of_points("input points of k and f", &inputs, VERMILLION))
        .panel(of_points("output points", &output_points(&data)?, BLUE))
        .panel(of_mesh(
            "a mesh of the L",
            &mesh(&darcy_lshape::domain(None)?, 512)?,
        ));
    let picture = picture(
        "darcy-lshape-points",
        "fig:DarcyLshapegridpoints",
        "L-shaped Darcy flow: points",
        "Both inputs are given on a grid, the output at other points.",
    );
    Ok((picture, figure.to_svg()))
}

fn output_points(data: &Dataset) -> Result<Points> {
    shared(data.outputs.only()?.shared_points())
}

fn shared(points: Option<&Points>) -> Result<Points> {
    let missing = || Error::Data("the samples of the problem do not share their points".into());
    points.cloned().ok_or_else(missing)
}

/// The mesh of a finite-element basis with about `functions` functions.
fn mesh(domain: &Polygon, functions: usize) -> Result<TriangleMesh> {
    let spec = FiniteElementsSpec {
        functions: Some(functions),
        ..FiniteElementsSpec::on(Degree::Linear, MeshSpec::Polygon(domain.clone()))
    };
    let basis = FiniteElements::new(&spec, BuildContext::on(&Bounds::unit(2)))?;
    let missing = || Error::Numerical(format!("{} have no triangles", basis.describe()));
    basis.triangles().cloned().ok_or_else(missing)
}

/// The unit square turned by a quarter.
fn turn([x, y]: [f64; 2]) -> [f64; 2] {
    [1.0 - y, x]
}

fn turned_polygon(polygon: &Polygon) -> Result<Polygon> {
    let ring = |ring: &[[f64; 2]]| ring.iter().map(|p| turn(*p)).collect();
    let holes = polygon.holes().iter().map(|hole| ring(hole)).collect();
    Polygon::new(ring(polygon.outer()), holes)
}

/// Three quarters more, so that a mesh of the turned domain is one of the domain.
fn turned(mesh: &TriangleMesh) -> Result<TriangleMesh> {
    let nodes = mesh.nodes().iter().map(|p| turn(turn(turn(*p))));
    TriangleMesh::new(nodes.collect(), mesh.triangles().to_vec())
}

fn of_points(title: &str, points: &Points, colour: Rgb) -> Panel {
    let column = |k: usize| -> Vec<f64> { points.iter().map(|p| p[k]).collect() };
    let title = format!("{title}: {}", points.len());
    let dots = Series::markers("", &column(0), &column(1));
    in_square(&title, dots.colour(colour))
}

/// Every edge once; a gap parts each from the next.
fn of_mesh(title: &str, mesh: &TriangleMesh) -> Panel {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for &[a, b] in mesh.edges() {
        let [a, b] = [mesh.nodes()[a], mesh.nodes()[b]];
        x.extend([a[0], b[0], f64::NAN]);
        y.extend([a[1], b[1], f64::NAN]);
    }
    let title = format!("{title}: {} nodes", mesh.nodes().len());
    let edges = Series::line("", &x, &y).dash(Dash::Solid).width(0.7);
    in_square(&title, edges.colour(GREEN))
}

/// A panel of the unit square with some room around it.
fn in_square(title: &str, series: Series) -> Panel {
    Panel::lines(AXES[0], AXES[1])
        .title(title)
        .equal_aspect()
        .x_range(-0.03, 1.03)
        .y_range(-0.03, 1.03)
        .series(series)
        .into()
}
