use super::*;
use crate::Unwatched;
use crate::testing::{check_refused, check_reproducible};

fn tiny() -> StokesInverse {
    StokesInverse {
        n_train: 3,
        n_test: 1,
        grid: 24,
        mesh_size: 0.12,
        ..StokesInverse::default()
    }
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_for_any_number_of_samples() {
    check_reproducible(4, |n_train, n_test| StokesInverse {
        n_train,
        n_test,
        noise: 0.01,
        ..tiny()
    });
}

#[test]
fn noise_and_sensors_change_nothing_else() {
    let clean = tiny().samples(3, &Unwatched).unwrap();
    let noisy = StokesInverse {
        noise: 0.05,
        ..tiny()
    }
    .samples(3, &Unwatched)
    .unwrap();
    let few = StokesInverse {
        sensors: 25,
        ..tiny()
    }
    .samples(3, &Unwatched)
    .unwrap();
    let input = |data: &Dataset| data.inputs[0].1.clone();
    let (mut difference, mut norm) = (0.0, 0.0);
    for k in 0..4 {
        let distances = clean.outputs[0].1.values_of(k);
        assert_eq!(noisy.outputs[0].1.values_of(k), distances);
        assert_eq!(few.outputs[0].1.values_of(k), distances);
        let points = input(&clean).points_of(k).clone();
        assert_eq!(*input(&noisy).points_of(k), points);
        assert_eq!(*input(&few).points_of(k).coords(), points.coords()[..50]);
        let (all, some) = (input(&clean).values_of(k), input(&few).values_of(k));
        assert_eq!((&some[..25], &some[25..]), (&all[..25], &all[100..125]));
        for (a, b) in all.iter().zip(input(&noisy).values_of(k)) {
            difference += (a - b) * (a - b);
            norm += a * a;
        }
    }
    let level = f64::sqrt(difference / norm);
    assert!((level - 0.05).abs() < 0.005, "{level}");
}

#[test]
fn sensors_fill_their_region_and_no_other() {
    let mut rng = sample_stream(0, 0);
    let n = 20_000;
    let mut corners = [0; 2];
    let mut right = 0;
    for _ in 0..n {
        let [x, y] = draw_sensor(&mut rng);
        assert!((0.5..=3.0).contains(&x) && (-3.0..=3.0).contains(&y));
        assert!(x >= 1.5 || y.abs() >= 2.0);
        right += usize::from(x >= 1.5);
        if x < 1.5 {
            corners[usize::from(y > 0.0)] += 1;
        }
    }
    let share = |count: usize| 11.0 * count as f64 / f64::from(n);
    assert!((share(right) - 9.0).abs() < 0.15);
    assert!(corners.iter().all(|&c| (share(c) - 1.0).abs() < 0.1));
}

#[test]
fn a_flow_is_that_of_the_data() {
    let settings = tiny();
    let data = settings.samples(5, &Unwatched).unwrap();
    let flow = flow(&settings, 5, 2).unwrap();
    assert_eq!(flow.readings().unwrap(), data.inputs[0].1.values_of(2));
    assert_eq!(
        flow.sensors.as_flattened(),
        data.inputs[0].1.points_of(2).coords()
    );
    assert_eq!(flow.boundaries.len(), flow.obstacles.len());
    assert_eq!(
        flow.solution.velocity[0].len(),
        velocity_places(&flow.mesh).len()
    );
    assert_eq!(flow.solution.pressure.len(), flow.mesh.nodes().len());
    assert_eq!(flow.velocity_at(flow.obstacles[0].shape().centre()), None);
    let [u, v] = flow.velocity_at([-3.0, 0.5]).unwrap();
    assert!((u - 1.0).abs() < 1e-12 && v.abs() < 1e-12);
    // The output is the distance, on a grid where the second axis varies fastest.
    let (points, distances) = (
        data.outputs[0].1.points_of(2),
        data.outputs[0].1.values_of(2),
    );
    assert_eq!(
        (points.point(1)[0], points.point(0)),
        (-3.0, &[-3.0, -3.0][..])
    );
    for (x, phi) in points.iter().zip(distances) {
        assert_eq!(
            phi < 0.0,
            flow.obstacles
                .iter()
                .any(|o| o.shape().contains([x[0], x[1]]))
        );
    }
}

#[test]
fn settings_out_of_range_are_named() {
    check_refused::<StokesInverse>(&[
        (|s| s.n_train = 0, "n_train = 0"),
        (|s| s.sensors = 0, "sensors = 0"),
        (|s| s.noise = -0.1, "noise = -0.1"),
        (|s| s.grid = 1, "grid = 1"),
        (|s| s.mesh_size = f64::NAN, "mesh_size = NaN"),
        (|s| s.obstacles.margin = 2.0, "margin = 2"),
    ]);
}

/// The relative change of the readings in $L^2$ from one mesh to one twice as fine.
fn change_on_refinement(mesh_size: f64, k: u64) -> f64 {
    let at = |mesh_size: f64| {
        let settings = StokesInverse {
            mesh_size,
            ..StokesInverse::default()
        };
        flow(&settings, 0, k).unwrap().readings().unwrap()
    };
    let (coarse, fine) = (at(mesh_size), at(0.5 * mesh_size));
    let norm: f64 = fine.iter().map(|v| v * v).sum();
    let squares: f64 = coarse
        .iter()
        .zip(&fine)
        .map(|(a, b)| (a - b) * (a - b))
        .sum();
    (squares / norm).sqrt()
}

#[test]
fn readings_hardly_change_on_a_mesh_twice_as_fine() {
    for k in 0..3 {
        let change = change_on_refinement(StokesInverse::default().mesh_size, k);
        assert!(change < 5e-4, "sample {k}: {change:e}");
    }
}

/// Figures for the documentation: `cargo test --release -p c2cnet-problems stokes::tests::study -- --ignored --nocapture`.
#[test]
#[ignore = "a study, not a check"]
fn study() {
    // Every mesh of the default size is good enough.
    let mut smallest = f64::INFINITY;
    for k in 0..3000 {
        let settings = StokesInverse::default();
        let obstacles = settings.obstacles.draw(&mut sample_stream(0, k)).unwrap();
        let size = MeshSize {
            near: settings.mesh_size,
            far: FAR_TO_NEAR * settings.mesh_size,
        };
        let mesh = FittedMesh::new(&obstacles, size).unwrap().mesh;
        smallest = smallest.min(smallest_angle(&mesh).to_degrees());
    }
    println!("smallest angle of 3000 meshes: {smallest:.1} degrees");
    for mesh_size in [0.12, 0.08, 0.06, 0.04] {
        let start = std::time::Instant::now();
        let settings = StokesInverse {
            mesh_size,
            ..StokesInverse::default()
        };
        let count = 10;
        let (mut places, mut steps) = (0, 0);
        for k in 0..count {
            let flow = flow(&settings, 0, k).unwrap();
            places += flow.solution.velocity[0].len();
            steps += flow.solution.steps;
        }
        let seconds = start.elapsed().as_secs_f64() / count as f64;
        let mut changes: Vec<f64> = (0..count)
            .map(|k| change_on_refinement(mesh_size, k))
            .collect();
        changes.sort_by(f64::total_cmp);
        println!(
            "mesh_size {mesh_size}: {seconds:.3} s, {} places, {} steps, change median {:.1e}, largest {:.1e}",
            places / count as usize,
            steps / count as usize,
            changes[count as usize / 2],
            changes[count as usize - 1]
        );
    }
    let start = std::time::Instant::now();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let settings = StokesInverse {
        n_train: 20,
        n_test: 0,
        ..StokesInverse::default()
    };
    pool.install(|| settings.samples(0, &Unwatched).unwrap());
    let seconds = start.elapsed().as_secs_f64() / 20.0;
    println!("whole samples on one thread: {seconds:.3} s each");
    let start = std::time::Instant::now();
    let data = StokesInverse::default().samples(0, &Unwatched).unwrap();
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    let rms = |field: &Field| {
        let values = (0..field.samples()).map(|k| field.values_of(k).len());
        (field.norms_squared().iter().sum::<f64>() / values.sum::<usize>() as f64).sqrt()
    };
    println!(
        "all {} samples on all threads: {minutes:.1} min; rms of readings {:.3}, of distances {:.3}",
        data.samples(),
        rms(&data.inputs[0].1),
        rms(&data.outputs[0].1)
    );
}
