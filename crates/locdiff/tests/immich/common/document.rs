//! What immich's document says of requests and answers.

use serde_json::{Map, Value};

/// The part of it that is used here, by `scripts/immich_api.py`.
pub const DOCUMENT: &str = include_str!("openapi.json");

#[derive(Debug, Clone)]
pub struct Document(pub Value);

impl Default for Document {
    fn default() -> Self {
        Self(serde_json::from_str(DOCUMENT).unwrap())
    }
}

impl Document {
    fn schema<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let inner = schema["allOf"].get(0).unwrap_or(schema);
        match inner["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
            Some(name) => &self.0["schemas"][name],
            None => inner,
        }
    }

    /// The status of a request's answer; an error for one that immich would refuse, without words where there is no such route.
    pub fn check(&self, method: &str, target: &str, body: Option<&Value>) -> Result<u16, String> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = path.strip_prefix("/api").ok_or("")?;
        let fits = |template: &str| {
            let (own, given): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
            own.len() == given.len() && own.iter().zip(&given).all(|(own, given)| own == given || own.starts_with('{'))
        };
        let routes = self.0["paths"].as_object().ok_or("")?;
        let route = routes.iter().find(|(template, _)| fits(template)).ok_or("")?.1;
        let operation = route.get(method.to_lowercase()).ok_or("")?;
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let known = operation["parameters"].as_array().into_iter().flatten();
            let parameter = known.clone().find(|one| one["name"] == name && one["in"] == "query");
            let parameter = parameter.ok_or_else(|| format!("property {name} should not exist"))?;
            self.fits(&parameter["schema"], &Value::from(value), name)?;
        }
        match (&operation["body"], body) {
            (Value::Null, _) => {}
            (schema, Some(body)) => self.fits(schema, body, "body")?,
            (_, None) => return Err("a body is missing".to_owned()),
        }
        operation["status"].as_u64().and_then(|status| status.try_into().ok()).ok_or_else(String::new)
    }

    /// Whether a value is what a schema says.
    fn fits(&self, schema: &Value, value: &Value, name: &str) -> Result<(), String> {
        let schema = self.schema(schema);
        if value.is_null() && schema["nullable"] == true {
            return Ok(());
        }
        let holds = match schema["type"].as_str() {
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some("boolean") => value.is_boolean(),
            Some("array") => value.is_array(),
            _ => value.is_object(),
        };
        let number = value.as_f64().unwrap_or_default();
        let is_within = schema["minimum"].as_f64().is_none_or(|least| number >= least)
            && schema["maximum"].as_f64().is_none_or(|most| number <= most);
        let is_listed = schema["enum"].as_array().is_none_or(|list| list.contains(value));
        if !(holds && is_within && is_listed) {
            return Err(format!("{name} must be a {schema}"));
        }
        for inner in value.as_array().into_iter().flatten() {
            self.fits(&schema["items"], inner, name)?;
        }
        let (Some(own), Some(properties)) = (value.as_object(), schema["properties"].as_object()) else {
            return Ok(());
        };
        for (name, inner) in own {
            let schema = properties.get(name).ok_or_else(|| format!("property {name} should not exist"))?;
            self.fits(schema, inner, name)?;
        }
        let missing = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        match missing.into_iter().find(|name| !own.contains_key(*name)) {
            Some(name) => Err(format!("{name} is missing")),
            None => Ok(()),
        }
    }

    /// An answer with all that the schema demands; what it does not know is an error.
    pub fn filled(&self, name: &str, own: Value) -> Result<Value, String> {
        let schema = &self.0["schemas"][name];
        let empty = |schema: &Value| {
            let schema = self.schema(schema);
            match (schema["nullable"].as_bool(), schema["type"].as_str()) {
                (Some(true), _) => Value::Null,
                (_, Some("string")) => schema["enum"].get(0).cloned().unwrap_or_else(|| "".into()),
                (_, Some("integer" | "number")) => 0.into(),
                (_, Some("boolean")) => false.into(),
                (_, Some("array")) => Value::Array(Vec::new()),
                _ => Value::Object(Map::new()),
            }
        };
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut full: Map<String, Value> =
            required.map(|name| (name.to_owned(), empty(&schema["properties"][name]))).collect();
        if let Value::Object(own) = own {
            full.extend(own);
        }
        let full = Value::Object(full);
        self.fits(schema, &full, name).map(|()| full)
    }
}
