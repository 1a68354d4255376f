use c2cnet::{data::Dataset, operator::*};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let data = Dataset::read_npz(a[1].as_ref()).unwrap();
    let config: FitConfig = serde_json::from_str(&a[2]).unwrap();
    struct P;
    impl Observer for P {
        fn step(&self, t: &str) {
            eprintln!("  .. {t}");
        }
    }
    let (m, r) = fit(&data, &config, &P).unwrap();
    for c in &r.choices {
        println!("{c}");
    }
    println!("{}", m.map().describe());
    if let Some(k) = &r.kernel {
        for p in &k.passes {
            println!(
                "  {:?} p={} val {:.3e}",
                p.settings, p.exponent, p.validation_rl2e
            );
        }
    }
    println!("{:?}", r.seconds);
    println!("val  {}", serde_json::to_string(&r.validation).unwrap());
    let t = data.select(&data.test_indices());
    println!(
        "test {}",
        serde_json::to_string(&m.evaluate(&t).unwrap()).unwrap()
    );
}
