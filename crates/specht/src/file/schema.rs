//! The JSON schema (draft-07) of the model file, made from [`super::keys`], so that editors complete and explain it.

use super::keys::{self, Key, Kind};

/// The schema as JSON text.
pub fn schema() -> String {
    let mut out = String::from(
        "{\n\"$schema\": \"http://json-schema.org/draft-07/schema#\",\n\"title\": \"Specht model\",\n",
    );
    out.push_str(
        "\"description\": \"A mechanical system with friction, unilateral contacts and impacts.\",\n",
    );
    out.push_str("\"definitions\": {\n\"expression\": {\"title\": \"expression\", \"description\": ");
    out.push_str(&quote(
        "a number (SI), a quantity such as \"3 mm\", or an expression of names, as in \"m*s^2/3\"",
    ));
    out.push_str(", \"anyOf\": [{\"type\": \"number\"}, {\"type\": \"string\", \"minLength\": 1}]}\n},\n");
    table_body(&mut out, keys::TOP, false);
    out.push_str("\n}\n");
    out
}

fn table_body(out: &mut String, keys: &[Key], open: bool) {
    out.push_str("\"type\": \"object\", \"additionalProperties\": ");
    out.push_str(if open { "true" } else { "false" });
    out.push_str(", \"properties\": {");
    for (k, key) in keys.iter().enumerate() {
        out.push_str(if k == 0 { "\n" } else { ",\n" });
        out.push_str(&format!(
            "{}: {{\"title\": {}, \"description\": {}, ",
            quote(key.name),
            quote(key.name),
            quote(key.about)
        ));
        kind_body(out, key.kind);
        out.push('}');
    }
    out.push('}');
    let required: &[&str] = if keys.iter().any(|k| k.name == "analyse") {
        &["analyse"]
    } else if keys.iter().any(|k| k.name == "position" || k.name == "bilateral") {
        &["name"]
    } else {
        &[]
    };
    if !required.is_empty() {
        let names: Vec<String> = required.iter().map(|n| quote(n)).collect();
        out.push_str(&format!(", \"required\": [{}]", names.join(", ")));
    }
}

fn kind_body(out: &mut String, kind: Kind) {
    let nested = |out: &mut String, kind: &Kind| {
        out.push('{');
        kind_body(out, *kind);
        out.push('}');
    };
    match kind {
        // draft-07 ignores what stands beside "$ref", so the reference stands alone inside allOf
        Kind::Expr => out.push_str("\"allOf\": [{\"$ref\": \"#/definitions/expression\"}]"),
        Kind::Text => out.push_str("\"type\": \"string\""),
        Kind::Bool => out.push_str("\"type\": \"boolean\""),
        Kind::Choice(words) => {
            let words: Vec<String> = words.iter().map(|w| quote(w)).collect();
            out.push_str(&format!("\"enum\": [{}]", words.join(", ")));
        }
        Kind::List(item) => {
            out.push_str("\"type\": \"array\", \"items\": ");
            nested(out, item);
        }
        Kind::Table(keys) => table_body(out, keys, false),
        Kind::Map(value) => {
            out.push_str("\"type\": \"object\", \"additionalProperties\": ");
            nested(out, value);
        }
        Kind::Tables(keys) => {
            out.push_str("\"type\": \"array\", \"items\": {");
            table_body(out, keys, keys.iter().any(|k| k.name == "analyse"));
            out.push('}');
        }
        Kind::Any(kinds) => {
            out.push_str("\"anyOf\": [");
            for (k, kind) in kinds.iter().enumerate() {
                out.push_str(if k == 0 { "" } else { ", " });
                nested(out, kind);
            }
            out.push(']');
        }
    }
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
