/**
 * An operation of the control API as a line of a test, of a shell, or of a scenario.
 *
 * @typedef {{id: string, method: string, path: string, values: Record<string, any>, required: string[]}} Call
 *   `id` is the operation's id, such as `partitions-move-leader`; `required` names the values that it always needs
 */

/**
 * Method of MockCluster, arguments by place, by name, and the one that takes all other values.
 * @type {Record<string, [string, string[], string[], string?]>}
 */
const METHODS = {
  "topics-create": ["create_topic", ["topic"], ["partitions", "replication_factor", "config"]],
  "topics-delete": ["delete_topic", ["topic"], []],
  "records-produce": ["produce", ["topic", "value"], ["key", "partition", "headers", "timestamp_ms", "timeout"]],
  "records-delete": ["delete_records", ["topic", "partition"], ["before", "timeout"]],
  "brokers-stop": ["stop_broker", ["broker"], []],
  "brokers-kill": ["kill_broker", ["broker"], []],
  "brokers-start": ["start_broker", ["broker"], []],
  "brokers-cut-off": ["cut_off", ["broker"], ["from"]],
  "brokers-rejoin": ["rejoin", ["broker"], []],
  "brokers-slow-metadata": ["slow_metadata", ["broker", "delay_ms"], []],
  "brokers-drop-fetch-sessions": ["drop_fetch_sessions", ["broker"], []],
  "brokers-drop-share-sessions": ["drop_share_sessions", ["broker"], []],
  "groups-configure": ["configure_group", ["group", "config"], []],
  "groups-alter-offset": ["alter_offset", ["group", "topic", "partition", "offset"], []],
  "groups-expire-locks": ["expire_locks", ["group"], []],
  "listeners-close": ["close_listener", ["broker", "listener"], []],
  "listeners-open": ["open_listener", ["broker", "listener"], []],
  "partitions-expire-producer": ["expire_producer", ["topic", "partition"], ["producer_id"]],
  "partitions-move-leader": ["move_leader", ["topic", "partition"], ["to"]],
  "followers-pause": ["pause_follower", ["topic", "partition", "broker"], []],
  "followers-slow": ["slow_follower", ["topic", "partition", "broker", "delay_ms"], []],
  "followers-resume": ["resume_follower", ["topic", "partition", "broker"], []],
  "followers-fail": ["fail_follower", ["topic", "partition", "broker"], []],
  "groups-move-coordinator": ["move_coordinator", [], ["group", "to"]],
  "groups-evict": ["evict_member", ["group", "member"], []],
  "transactions-expire": ["expire_transactional_id", ["transactional_id"], []],
  "transactions-move-coordinator": ["move_coordinator", [], ["transactional_id", "to"]],
  "acls-add": ["add_acl", ["acl"], []],
  "acls-remove": ["remove_acl", ["acl"], []],
  "users-set-password": ["set_password", ["user", "password"], []],
  "users-remove": ["remove_user", ["user"], []],
  "tokens-issue": ["token", ["user"], ["kind", "expires_in", "scope"], "claims"],
  "handshakes-break": ["break_handshakes", ["how"], ["broker", "times"]],
  "handshakes-mend": ["mend_handshakes", [], []],
  "certificates-show": ["show_certificate", ["certificate"], ["key"]],
  "policies-set": ["policies.set", ["name", "answer"], ["topic", "broker"]],
  "policies-reset": ["policies.reset", ["name"], ["topic", "broker"]],
  "faults-clear": ["faults.clear", [], []],
  "clock-advance": ["clock.advance", ["by"], []],
};
const KEYWORDS = new Set(["from"]);
/** What `mockbroker ctl` takes as options of operations whose other values are written NAME=VALUE. */
const OPTIONS = new Set(["name", "kind", "expires_in", "scope"]);

/** @param {Call} call @returns {string} */
export function asPytest(call) {
  const { id, values } = call;
  if (id === "faults-add") {
    // In Python a variable takes the place of the name.
    const { do: action, name, ...rest } = values;
    const variable = /^[A-Za-z_]\w*$/.test(name ?? "") ? `${name} = ` : "";
    return `${variable}cluster.faults.add(${[python(action), ...named(rest)].join(", ")})`;
  }
  const onFault = /^faults-(pause|release|remove)$/.exec(id);
  if (onFault) return `cluster.faults[${python(values.name)}].${onFault[1]}()`;
  const [method, byPlace, byName, others] = METHODS[id] ?? ["", [], []];
  if (!method) return `# no method of MockCluster does this: ${asCurl(call)}`;
  const given = Object.fromEntries(byName.filter((each) => values[each] !== undefined).map((each) => [each, values[each]]));
  const known = new Set([...byPlace, ...byName]);
  const rest = Object.entries(values).filter(([name, value]) => !known.has(name) && value !== undefined);
  if (others && rest.length) given[others] = Object.fromEntries(rest);
  const places = byPlace.map((each) => python(values[each] ?? null));
  return `cluster.${method}(${[...places, ...named(given)].join(", ")})`;
}

/** @param {Call} call @returns {string} */
export function asCurl(call) {
  const { path, body, query } = parts(call);
  const data = Object.keys(body).length ? ` -d ${quoted(JSON.stringify(body))}` : "";
  const method = call.method.toUpperCase();
  return `curl -sS -X ${method} "$MOCKBROKER_CONTROL${path}${query}"${data}`;
}

/** @param {Call} call @returns {string} `MOCKBROKER_CONTROL` says which cluster */
export function asCtl({ id, values, required }) {
  const command = `mockbroker ctl ${id.replace("-", " ")}`;
  if (id === "policies-set") {
    const where = ["topic", "broker"].filter((each) => each in values).map((each) => `@${each}:${values[each]}`);
    return `${command} ${word(`${values.name}${where.join("")}=${values.answer}`)}`;
  }
  const places = required.flatMap((name) => texts(values[name]).map(word));
  const rest = Object.entries(values).filter(([name]) => !required.includes(name));
  const fields = id === "faults-add" || id === "tokens-issue" ? rest.filter(([name]) => !OPTIONS.has(name)) : [];
  const options = rest
    .filter((each) => !fields.includes(each))
    .flatMap(([name, value]) => texts(value).map((each) => `--${name.replaceAll("_", "-")}=${word(each)}`));
  const given = fields.map(([name, value]) => word(`${name}=${asField(value)}`));
  // What begins with a dash is no option.
  const dash = places.some((each) => each.startsWith("-")) ? ["--"] : [];
  return [command, ...options, ...dash, ...places, ...given].join(" ");
}

/** @param {any} value @returns {string} a field that may be anything: JSON, or text that can't be read as JSON */
function asField(value) {
  if (typeof value !== "string") return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

/** @param {any} value @returns {string[]} as `mockbroker ctl` reads them: an object is several of NAME=VALUE */
function texts(value) {
  if (Array.isArray(value)) return value.map(String);
  if (value && typeof value === "object") return Object.entries(value).map(([name, each]) => `${name}=${each}`);
  return [String(value)];
}

/** @param {string} text */
function word(text) {
  return /^[\w.,:=@%+/-]+$/.test(text) ? text : quoted(text);
}

/** @param {Call} call @param {number} [afterMs] counted from the start of the command @returns {string} */
export function asScenario({ id, values }, afterMs = 1000) {
  if (id === "faults-add") return ["[[fault]]", ...toml(values)].join("\n");
  const after = afterMs % 1000 ? `${afterMs}ms` : `${afterMs / 1000}s`;
  return ["[[step]]", `after = "${after}"`, `do = "${id.replace("-", " ")}"`, ...toml(values)].join("\n");
}

/**
 * The path with its values, and what is sent in the query and in the body.
 * @param {Call} call
 */
export function parts({ path, method, values }) {
  const rest = { ...values };
  const filled = path.replace(/{(\w+)}/g, (_, name) => {
    delete rest[name];
    return encodeURIComponent(values[name] ?? "");
  });
  if (method !== "delete") return { path: filled, query: "", body: rest };
  const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)])).toString();
  return { path: filled, query: query && `?${query}`, body: {} };
}

/** @param {Record<string, any>} values */
function named(values) {
  return Object.entries(values).map(([name, value]) => `${KEYWORDS.has(name) ? `${name}_` : name}=${python(value)}`);
}

/** @param {any} value @returns {string} */
function python(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${python(each)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {Record<string, any>} values @returns {string[]} */
function toml(values) {
  return Object.entries(values).map(([name, value]) => `${name} = ${tomlValue(value)}`);
}

/** @param {any} value @returns {string} */
function tomlValue(value) {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (value && typeof value === "object") {
    return `{ ${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)} = ${tomlValue(each)}`).join(", ")} }`;
  }
  return JSON.stringify(value);
}

/** @param {string} text to the clipboard, if the browser lets us */
export async function toClipboard(text) {
  await navigator.clipboard?.writeText(text).catch(() => {});
}
