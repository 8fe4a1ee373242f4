//! The document for people: a page without scripts.

use crate::ask::{PARAMETERS, Parameter};
use crate::openapi::{parts, problems};
use crate::{question::is_for, routes::ROUTES};
use std::fmt::Write;

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
    content=\"width=device-width\"><title>LocDiff: routes</title><link rel=\"icon\" href=\"/page/icon.svg\"><link rel=\"stylesheet\" href=\"/page/style.css\">\
    <body class=\"docs\"><main><h1>LocDiff over HTTP</h1><p>The same as a document for programs: <a href=\"/openapi.json\">\
    openapi.json</a>. Where the server has keys: <code>Authorization: Bearer KEY</code> or <code>x-api-key: KEY</code>. \
    Problems are <code>application/problem+json</code> (RFC 9457).</p>\
    <pre tabindex=\"0\">curl -H 'content-type: image/jpeg' -T photo.jpg -X POST 'http://127.0.0.1:8080/v1/locate?name=photo.jpg'</pre>";

/// The page.
pub(crate) fn page() -> String {
    let (mut out, [_, described]) = (HEAD.to_owned(), parts());
    for route in &ROUTES {
        let method = if route.is_post { "POST" } else { "GET" };
        let summary = escaped(described[route.path]["summary"].as_str().unwrap_or_default());
        let _ = write!(out, "<h2><code>{method} {}</code></h2><p>{summary}.</p>", route.path);
        let known: Vec<_> = PARAMETERS.iter().filter(|parameter| is_for(parameter, route.endpoint)).collect();
        if !known.is_empty() {
            out += "<table><thead><tr><th>parameter<th>type<th>default<th>meaning</thead><tbody>";
            for parameter in known {
                let Parameter { name, kind, choices, default, meaning } = parameter;
                let kind = if choices.is_empty() { kind.clone() } else { choices.join(" | ") };
                let _ = write!(out, "<tr><td><code>{name}</code><td>{kind}<td>{default}<td>{}", escaped(meaning));
            }
            out += "</tbody></table>";
        }
        let listed: Vec<String> = problems(route)
            .iter()
            .map(|kind| format!("{} {}", kind.status(), escaped(kind.title()).to_lowercase()))
            .collect();
        let _ = write!(out, "<p class=\"quiet\">Problems: {}.</p>", listed.join("; "));
    }
    out + "</main></body></html>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
