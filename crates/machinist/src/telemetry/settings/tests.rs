//! What is asked for, and what is said of what cannot be.

use super::*;

fn read(flag: Option<&str>, given: &[(&str, &str)]) -> Result<Option<Settings>, SettingsError> {
    let variable = |name: &str| {
        let found = given.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Settings::read(flag, &variable)
}

fn on(given: &[(&str, &str)]) -> Settings {
    let mut given = given.to_vec();
    given.push(("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"));
    read(None, &given).unwrap().unwrap()
}

/// The words for a variable beside one that asks for traces.
fn refused(variable: &str, value: &str) -> String {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
    let given = [(variable, value), endpoint];
    read(None, &given).unwrap_err().to_string()
}

#[test]
fn nothing_is_sent_unless_somebody_asks() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
    assert!(read(None, &[]).unwrap().is_none());
    assert!(read(None, &[("OTEL_SERVICE_NAME", "x")]).unwrap().is_none());
    assert!(
        read(None, &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")])
            .unwrap()
            .is_none()
    );
    let disabled = [endpoint, ("OTEL_SDK_DISABLED", "TRUE")];
    assert!(read(Some("http://c:1"), &disabled).unwrap().is_none());
    let none = [endpoint, ("OTEL_TRACES_EXPORTER", "none")];
    assert!(read(None, &none).unwrap().is_none());
    // What would be wrong about traces that nobody wants is nobody's business.
    assert!(
        read(None, &[("OTEL_TRACES_SAMPLER", "x")])
            .unwrap()
            .is_none()
    );
}

#[test]
fn the_place_is_found_as_the_specification_says() {
    let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/base/");
    let traces = (
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "https://traces/as/it/is",
    );
    let exporter = ("OTEL_TRACES_EXPORTER", "otlp");
    for (flag, given, expected) in [
        (None, vec![all], "http://all:4318/base/v1/traces"),
        (None, vec![all, traces], "https://traces/as/it/is"),
        (
            Some("http://flag"),
            vec![all, traces],
            "http://flag/v1/traces",
        ),
        (None, vec![exporter], "http://localhost:4318/v1/traces"),
    ] {
        let settings = read(flag, &given).unwrap().unwrap();
        assert_eq!(settings.endpoint.as_str(), expected);
    }
}

#[test]
fn what_is_not_said_is_as_usual() {
    let settings = on(&[]);
    assert_eq!(
        (settings.encoding, settings.gzip),
        (Encoding::Protobuf, false)
    );
    assert_eq!(settings.sampler, Sampler::DEFAULT);
    assert_eq!((settings.queue, settings.batch), (2048, 512));
    let waits = (settings.delay, settings.timeout);
    assert_eq!(waits, (Duration::from_secs(5), Duration::from_secs(10)));
    assert!(settings.headers.is_empty());
    let name = ("service.name".to_owned(), "machinist".to_owned());
    assert!(settings.resource.contains(&name));
}

#[test]
fn what_is_said_is_done() {
    let settings = on(&[
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=se%20cret, x-scope=a"),
        (
            "OTEL_RESOURCE_ATTRIBUTES",
            "service.name=other,host.name=h%2C1",
        ),
        ("OTEL_SERVICE_NAME", "mine"),
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "8"),
    ]);
    assert_eq!((settings.encoding, settings.gzip), (Encoding::Json, true));
    assert_eq!(settings.headers["api-key"], "se cret");
    assert!(!format!("{settings:?}").contains("se cret"));
    let expected = Sampler {
        parent_based: true,
        ratio: 0.25,
    };
    assert_eq!(settings.sampler, expected);
    assert_eq!((settings.queue, settings.batch), (8, 8));
    let value = |key: &str| {
        let mut found = settings.resource.iter().filter(|(known, _)| known == key);
        let (_, value) = found.next().unwrap();
        assert!(found.next().is_none(), "{key} is there twice");
        value.as_str()
    };
    assert_eq!((value("service.name"), value("host.name")), ("mine", "h,1"));
}

#[test]
fn what_cannot_be_done_is_named_with_what_can() {
    for (variable, value, allowed) in [
        (
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "grpc",
            "http/protobuf or http/json",
        ),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "gzip or none"),
        (
            "OTEL_EXPORTER_OTLP_TIMEOUT",
            "10s",
            "a number from 1 to 86400000",
        ),
        (
            "OTEL_BSP_SCHEDULE_DELAY",
            "0",
            "a number from 1 to 86400000",
        ),
        ("OTEL_SDK_DISABLED", "1", "true or false"),
        ("OTEL_TRACES_EXPORTER", "zipkin", "otlp or none"),
        (
            "OTEL_TRACES_SAMPLER",
            "jaeger_remote",
            "always_on, always_off or traceidratio, alone or after parentbased_",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "collector:4318",
            "an http or https URL without user and password",
        ),
    ] {
        let expected = format!("{variable}: {value:?} is not allowed; allowed is {allowed}");
        assert_eq!(refused(variable, value), expected);
    }
    let ratio = [
        ("OTEL_TRACES_SAMPLER", "traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "1.5"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"),
    ];
    assert_eq!(
        read(None, &ratio).unwrap_err().to_string(),
        "OTEL_TRACES_SAMPLER_ARG: \"1.5\" is not allowed; allowed is a number from 0 to 1"
    );
}

#[test]
fn secrets_are_not_repeated() {
    let said = refused("OTEL_EXPORTER_OTLP_HEADERS", "a=b,hunter2");
    let expected = "OTEL_EXPORTER_OTLP_HEADERS: entry 2 cannot be read; allowed is \
         key=value,key=value with percent-encoded values";
    assert_eq!(said, expected);
    let said = refused("OTEL_EXPORTER_OTLP_HEADERS", "api key=hunter2");
    assert!(
        said.contains("entry 1") && !said.contains("hunter2"),
        "{said}"
    );
    let endpoint = "https://me:hunter2@collector";
    let said = read(Some(endpoint), &[]).unwrap_err().to_string();
    assert!(
        said.starts_with(FLAG) && !said.contains("hunter2"),
        "{said}"
    );
}
