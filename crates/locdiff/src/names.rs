//! The form of options in files: choices by their names, without defaults.

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(crate) mod named {
    use locdiff_base::Named;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<T: Named, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(value.name())
    }

    pub(crate) fn deserialize<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        T::from_name(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

pub(crate) mod optional_name {
    use locdiff_base::Named;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[expect(clippy::ref_option, reason = "as serde calls it")]
    pub(crate) fn serialize<T: Named, S: Serializer>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(|value| value.name()).serialize(to)
    }

    pub(crate) fn deserialize<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
        let name = Option::<String>::deserialize(from)?;
        name.map(|name| T::from_name(&name).map_err(D::Error::custom)).transpose()
    }
}

pub(crate) mod device {
    use locdiff_nn::DeviceSpec;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(device: &DeviceSpec, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(device)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DeviceSpec, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
