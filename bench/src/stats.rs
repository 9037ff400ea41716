//! Percentiles, ratios and differences, as JSON.
use serde_json::{Value, json};

/// n, min, p50, p90, p95, p99, max and mean of a list of milliseconds; only n where it is empty.
pub(crate) fn spread(values: &[f64]) -> Value {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else { return json!({"n": 0}) };
    let q = |p: f64| round(sorted[((sorted.len() as f64 - 1.0) * p).round() as usize]);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    json!({"n": sorted.len(), "min": round(*min), "p50": q(0.5), "p90": q(0.9), "p95": q(0.95), "p99": q(0.99),
        "max": round(*max), "mean": round(mean)})
}

/// Three decimals are as much as any of these figures is worth.
pub(crate) fn round(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

/// `a[key] / b[key]` of two blocks, null where either is missing.
pub(crate) fn ratio(a: &Value, b: &Value, key: &str) -> Value {
    match (a[key].as_f64(), b[key].as_f64()) {
        (Some(x), Some(y)) if y > 0.0 => json!(round(x / y)),
        _ => Value::Null,
    }
}

/// `a[key] - b[key]` of two blocks, null where either is missing.
pub(crate) fn difference(a: &Value, b: &Value, key: &str) -> Value {
    match (a[key].as_f64(), b[key].as_f64()) {
        (Some(x), Some(y)) => json!(round(x - y)),
        _ => Value::Null,
    }
}

/// `total / parts`, null where there are no parts or the total could not be measured.
pub(crate) fn per(total: Option<f64>, parts: usize) -> Value {
    match total {
        Some(total) if parts > 0 => json!(round(total / parts as f64)),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_does_not_depend_on_the_order() {
        let values: Vec<f64> = (1..=101).rev().map(f64::from).collect();
        let block = spread(&values);
        assert_eq!((block["min"].as_f64(), block["p50"].as_f64()), (Some(1.0), Some(51.0)));
        assert_eq!((block["p99"].as_f64(), block["max"].as_f64()), (Some(100.0), Some(101.0)));
        assert_eq!(spread(&[]), json!({"n": 0}));
    }

    #[test]
    fn what_was_not_measured_stays_null() {
        let (a, b) = (json!({"p50": 3.0}), json!({"p50": 2.0}));
        assert_eq!(ratio(&a, &b, "p50"), json!(1.5));
        assert_eq!(difference(&a, &b, "p50"), json!(1.0));
        assert_eq!(ratio(&a, &json!({"p50": 0.0}), "p50"), Value::Null);
        assert_eq!(difference(&a, &json!({}), "p50"), Value::Null);
        assert_eq!(per(Some(6.0), 4), json!(1.5));
        assert_eq!(per(Some(6.0), 0), Value::Null);
        assert_eq!(per(None, 4), Value::Null);
    }
}
