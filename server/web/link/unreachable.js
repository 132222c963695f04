/**
 * The message of the page if the match cannot be reached: first what was seen, then possible
 * causes. A page cannot know the cause, because browsers do not say why WebTransport failed.
 */

/**
 * The names of the families of addresses.
 *
 * @type {Record<string, string>}
 */
const FAMILIES = { ipv4: "IPv4", ipv6: "IPv6" };

const list = (/** @type {string[]} */ parts) => (parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

const day = (/** @type {number} */ seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

/**
 * Whether a host is written as an address, and of which family.
 *
 * @param {string} host
 */
function familyOf(host) {
  if (host.startsWith("[")) return "ipv6";
  return /^\d+(\.\d+){3}$/.test(host) ? "ipv4" : null;
}

/**
 * Describes a session of WebTransport that was not opened.
 *
 * @param {{families?: string[], certificate_valid?: ?number[], self_signed?: boolean}} info the
 *   server's `/info`
 * @param {{address: string, port: number}} game the address that was tried
 * @param {?Error} error what the browser reported; `null` if it reported nothing in time
 * @param {number} milliseconds how long the page waited
 * @returns {{message: string, advice: string}} the observation, and possible causes
 */
export function unreachable(info, { address, port }, error, milliseconds) {
  const host = address.replace(/^https:\/\//, "").replace(/:\d+\/$/, "");
  const seen = error
    ? `the browser says: ${String(error.message || error).replace(/\.+$/, "")}`
    : `no answer within ${milliseconds / 1000} s`;
  const facts = [`Tried ${address} over UDP: ${seen}.`];
  const families = info.families ?? [];
  if (families.length > 0) facts.push(`The server listens on ${list(families.map((family) => FAMILIES[family]))}.`);
  if (info.certificate_valid) {
    facts.push(`Its certificate is valid from ${day(info.certificate_valid[0])} to ${day(info.certificate_valid[1])}.`);
  }
  const causes = [];
  const missing = Object.keys(FAMILIES).filter((family) => families.length > 0 && !families.includes(family));
  const own = familyOf(host);
  for (const family of missing) {
    if (own === family) {
      causes.push(`the address is of ${FAMILIES[family]}, on which the server does not listen`);
    } else if (own === null) {
      causes.push(
        `${host} has an address of ${FAMILIES[family]}, which a browser may take, and the server does not listen there (its option --listen [::]:${port} takes both)`,
      );
    }
  }
  causes.push(`UDP port ${port} is not let through by a firewall, a router or a container, which let the page through over TCP`);
  if (!info.self_signed) {
    causes.push("this browser does not trust the certificate, which must name this host and come from a known authority");
  }
  return {
    message: `The match at UDP port ${port} cannot be reached.`,
    advice: `${facts.join(" ")} It may be that ${causes.join("; or that ")}.`,
  };
}
