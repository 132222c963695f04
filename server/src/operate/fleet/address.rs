use serde_json::Value;

use crate::door::public_endpoint::advertise::Advertised;

/// The name of the players' port in the fleet's template.
const PORT: &str = "players";

/// The address at which clients reach this server, from the sidecar's answer to `GET /gameserver`.
/// It is the address of the node, with the node's port that leads to the port named [`PORT`], or to
/// the only port. `None` until the fleet has assigned address and port.
pub(super) fn of(game_server: &Value) -> Option<Advertised> {
    let status = &game_server["status"];
    let host = status["address"].as_str().filter(|address| !address.is_empty())?;
    let ports = status["ports"].as_array()?;
    let named = ports.iter().find(|port| port["name"] == PORT);
    let port = named.or_else(|| ports.first().filter(|_| ports.len() == 1))?;
    let port = port["port"].as_u64().and_then(|port| u16::try_from(port).ok())?;
    (port != 0).then(|| Advertised { host: Some(host.to_owned()), port })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn status(address: &str, ports: Value) -> Option<Advertised> {
        of(&json!({ "status": { "address": address, "ports": ports } }))
    }

    #[test]
    fn the_players_port_is_found_once_the_fleet_has_decided() {
        let two = json!([{ "name": "pages", "port": 7001 }, { "name": "players", "port": 7002 }]);
        assert_eq!(status("192.0.2.1", two).unwrap().to_string(), "192.0.2.1:7002");
        let one = json!([{ "name": "default", "port": 7003 }]);
        assert_eq!(status("2001:db8::1", one).unwrap().to_string(), "[2001:db8::1]:7003");
        assert_eq!(status("", json!([{ "name": "players", "port": 7002 }])), None);
        assert_eq!(status("192.0.2.1", json!([])), None);
        assert_eq!(of(&json!({})), None);
        let senseless = json!([{ "name": "players", "port": 70_000 }]);
        assert_eq!(status("192.0.2.1", senseless), None);
    }
}
