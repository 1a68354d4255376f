//! The examples do what they say; what they assert is pinned there.

#[path = "../examples/own_data.rs"]
mod own_data;
#[path = "../examples/scattered_sensors.rs"]
mod scattered_sensors;

#[test]
fn own_data_are_fitted_and_predicted() {
    own_data::main().unwrap();
}

#[test]
fn scattered_sensors_are_encoded() {
    scattered_sensors::main().unwrap();
}
