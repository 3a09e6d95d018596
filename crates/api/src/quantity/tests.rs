use proptest::prelude::*;

use super::*;

fn nanos(value: &str) -> i128 {
    value.parse::<Quantity>().unwrap().nanos
}

#[test]
fn reads_every_suffix() {
    for (text, bytes) in [
        ("0", 0),
        ("1", 1),
        ("+7", 7),
        ("1Ki", 1 << 10),
        ("128Mi", 128 << 20),
        ("4Gi", 4 << 30),
        ("1024Gi", 1 << 40),
        ("100Ti", 100 << 40),
        ("2Pi", 2 << 50),
        ("1Ei", 1 << 60),
        ("1k", 1_000),
        ("5M", 5_000_000),
        ("20G", 20_000_000_000),
        ("1T", 1_000_000_000_000),
        ("1P", 1_000_000_000_000_000),
        ("1E", 1_000_000_000_000_000_000),
        ("1e3", 1_000),
        ("1E3", 1_000),
        ("1.5Gi", 3 << 29),
        ("0.5Ki", 512),
        ("2.", 2),
        ("2000m", 2),
    ] {
        assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
    }
    assert_eq!("1500m".parse::<Quantity>().unwrap().milli(), 1500);
}

#[test]
fn rounds_up_what_is_finer_than_a_nano() {
    assert_eq!(nanos("1n"), 1);
    assert_eq!(nanos("0.1n"), 1);
    assert_eq!(nanos("1.1n"), 2);
    assert_eq!(nanos("1e-60"), 1);
    assert_eq!("1u".parse::<Quantity>().unwrap().milli(), 1);
}

#[test]
fn refuses_what_is_no_quantity() {
    for text in [
        "", " ", "Gi", "4 Gi", "4gi", "4GiB", "1.2.3", "1e", "1e+", "0x10", "-", ".", "four",
        "1Ki1", "4Gi ", "１",
    ] {
        let error = text.parse::<Quantity>().unwrap_err();
        assert_eq!(
            error,
            QuantityError::Malformed {
                value: text.to_owned()
            },
            "{text:?}"
        );
    }
    assert_eq!(
        "4GiB".parse::<Quantity>().unwrap_err().to_string(),
        "\"4GiB\" is not a Kubernetes quantity; write a number with an optional suffix \
         (Ki, Mi, Gi, Ti, Pi, Ei or n, u, m, k, M, G, T, P, E), such as 4Gi"
    );
}

#[test]
fn refuses_what_does_not_fit() {
    for text in [
        "8Ei",
        "1e99",
        "99999999999999999999999999999999999999999999",
        "1e999999999999",
    ] {
        assert!(
            matches!(
                text.parse::<Quantity>(),
                Err(QuantityError::TooLarge { .. })
            ),
            "{text}"
        );
    }
}

#[test]
fn bytes_are_whole_and_not_negative() {
    for text in ["100m", "-1", "0.5", "1.3Ki"] {
        assert!(
            matches!(parse_bytes(text), Err(QuantityError::NotBytes { .. })),
            "{text}"
        );
    }
}

#[test]
fn writes_the_shortest_exact_form() {
    for (text, shortest) in [
        ("4294967296", "4Gi"),
        ("1000", "1k"),
        ("1024000", "1000Ki"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        ("-2048", "-2Ki"),
        ("0Gi", "0"),
        ("1n", "1n"),
    ] {
        assert_eq!(text.parse::<Quantity>().unwrap().to_string(), shortest);
    }
}

proptest! {
    #[test]
    fn any_bytes_survive_being_written_and_read(bytes in 0..=i64::MAX as u64) {
        prop_assert_eq!(parse_bytes(&Quantity::from_bytes(bytes).to_string()), Ok(bytes));
    }

    #[test]
    fn any_milli_survives_being_written_and_read(milli: i64) {
        let quantity = Quantity::from_milli(milli);
        prop_assert_eq!(quantity.to_string().parse::<Quantity>(), Ok(quantity));
        prop_assert_eq!(quantity.milli(), i128::from(milli));
    }

    #[test]
    fn a_suffix_multiplies(count in 1..1000_u64, suffix in 0..BINARY.len()) {
        let (name, nanos) = BINARY[suffix];
        let read = format!("{count}{name}").parse::<Quantity>();
        match read {
            Ok(quantity) => prop_assert_eq!(quantity.nanos, i128::from(count) * nanos),
            Err(error) => {
                let too_large = matches!(error, QuantityError::TooLarge { .. });
                prop_assert!(too_large);
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-+0-9.eEinukmMGTP]{0,50}|\\PC{0,20}") {
        let _ = text.parse::<Quantity>();
    }
}
