import { useAvro } from "./avro.js";
import { Batch } from "./batch.js";
import { html, useEffect, useState } from "./html.js";
import { nameOf } from "./sharing.js";
import { ask } from "./source.js";
import { Table } from "./tables.js";

/**
 * @typedef {import("./model.js").State} State
 * @typedef {import("./model.js").Partition} Partition
 * @typedef {Record<string, any> & {offset: number, value: string | null, producer_id: number | null, transaction: string | null, control: string | null}} Listed
 *   a record as the control API lists it
 * @typedef {"text" | "JSON" | "bytes"} Shape how keys and values are shown
 */

/** How many offsets are asked for at once, and how many bytes of each key and value. */
const PAGE = 50;
const MOST_BYTES = 512;
const SHAPES = ["text", "JSON", "bytes"];

/**
 * The records of the chosen partition, as far as they were there at the moment that is shown.
 * @param {{state: State, now: State, chosen: string, choose: (name: string) => void, act: import("./groups.js").Act}} props
 *   `state` is that of the moment, `now` the present one; `chosen` is the name of a partition, or nothing
 */
export function Records({ state, now, chosen, choose, act }) {
  const names = [...state.partitions.keys()];
  const partition = state.partitions.get(chosen) ?? [...state.partitions.values()].find((each) => !each.topic.startsWith("__"));
  const [from, setFrom] = useState(/** @type {number | null} */ (null));
  const [filter, setFilter] = useState("");
  const [opened, setOpened] = useState(/** @type {number | null} */ (null));
  const [shape, setShape] = useState(/** @type {Shape} */ ("text"));
  const [listed, setListed] = useState(/** @type {{records: Listed[], error: string}} */ ({ records: [], error: "" }));
  const end = partition?.logEnd ?? 0;
  const first = Math.max(partition?.logStart ?? 0, from ?? end - PAGE);
  useEffect(() => {
    if (!partition) return;
    let wanted = true;
    const query = new URLSearchParams({ partition: `${partition.partition}`, offset: `${first}`, limit: `${PAGE}`, control: "true", most_bytes: `${MOST_BYTES}` });
    ask(`/topics/${encodeURIComponent(partition.topic)}/records?${query}`)
      .then(async (answer) => ({ ok: answer.ok, told: await answer.json() }))
      .then(({ ok, told }) => wanted && setListed(ok ? { records: told, error: "" } : { records: [], error: told.error }))
      .catch((error) => wanted && setListed({ records: [], error: String(error) }));
    return () => {
      wanted = false;
    };
  }, [partition?.name, first, end, state.topics.get(partition?.topic ?? "")?.topic_id]);
  const avro = useAvro(partition, first, PAGE, listed);
  if (!partition) {
    return html`<p class="nothing">No topics yet. A topic is here once a client has asked for it, or you have made it.</p>
      <div class="controls"><button type="button" onClick=${() => act("topics-create", {})}>create a topic</button></div>`;
  }
  if (now.topics.get(partition.topic)?.topic_id !== state.topics.get(partition.topic)?.topic_id) {
    return html`<p class="nothing">The topic ${partition.topic} was deleted since.</p>`;
  }
  const there = listed.records.filter((each) => wasThere(each, partition));
  const shown = there.filter((each) => !filter || `${wordsOf(each)} ${avro.values.get(each.offset) ?? ""}`.includes(filter));
  const go = (/** @type {number} */ to) => setFrom(to >= end ? null : Math.max(partition.logStart, to));
  const place = { topic: partition.topic, partition: String(partition.partition) };
  const columns = ["offset", "time", "key", "value", "headers", "size", "compression", "leader epoch", "producer", "client", "epoch", "sequence", "transaction", "read by", "do"];
  const rows = shown.map((each) => [
    each.offset,
    each.timestamp_ms < 0 ? "–" : new Date(each.timestamp_ms).toISOString().slice(0, 23).replace("T", " "),
    shownAs(each.key, each.key_encoding, each.key_bytes, shape),
    each.control ? html`<em>${each.control} marker</em>` : avro.values.get(each.offset) ?? shownAs(each.value, each.value_encoding, each.value_bytes, shape),
    each.headers.map((/** @type {any} */ one) => `${one.key}=${one.value ?? "null"}`).join(", ") || "–",
    each.size,
    each.compression,
    each.leader_epoch,
    each.producer_id ?? "–",
    each.producer_id === null ? "–" : state.writers.get(each.producer_id) || "–",
    each.producer_epoch ?? "–",
    each.sequence ?? "–",
    outcomeAt(each, listed.records, end, state.number < now.number),
    readersOf(state, partition, each.offset).join(", ") || "–",
    html`<button type="button" aria-label="bytes of the batch of offset ${each.offset}" onClick=${() => setOpened(each.offset)}>bytes</button>`,
  ]);
  return html`<div class="filters">
      <label>of <select aria-label="partition" value=${partition.name} onChange=${(/** @type {any} */ e) => (setFrom(null), setOpened(null), choose(e.currentTarget.value))}>
        ${names.map((each) => html`<option>${each}</option>`)}
      </select></label>
      <button type="button" onClick=${() => go(first - PAGE)} disabled=${first <= partition.logStart}>‹ earlier</button>
      <button type="button" onClick=${() => go(first + PAGE)} disabled=${first + PAGE >= end}>later ›</button>
      <label>from <input type="number" min="0" value=${first} onChange=${(/** @type {any} */ e) => go(Number(e.currentTarget.value))} /></label>
      <label>as <select value=${shape} onChange=${(/** @type {any} */ e) => setShape(e.currentTarget.value)}>${SHAPES.map((each) => html`<option>${each}</option>`)}</select></label>
      <label>with <input type="search" placeholder="key, value, header" value=${filter} onInput=${(/** @type {any} */ e) => setFilter(e.currentTarget.value)} /></label>
      ${avro.picker}
      <button type="button" onClick=${() => act("records-produce", place)}>produce</button>
      <button type="button" onClick=${() => act("records-delete", place)}>delete</button>
    </div>
    ${listed.error && html`<p class="nothing" role="status">${listed.error}</p>`}
    <${Table} title=${`Records of ${partition.name}, offsets ${first} to ${Math.min(first + PAGE, end)} of ${end}`} columns=${columns} rows=${rows}
      nothing=${end > partition.logStart ? "None of these." : "Nothing is in this partition."} />
    ${opened !== null && html`<${Batch} topic=${partition.topic} partition=${partition.partition} offset=${opened} close=${() => setOpened(null)} />`}
    <${Configuration} path=${`/topics/${encodeURIComponent(partition.topic)}/config`} title=${`Configuration of ${partition.topic}, at present`} />`;
}

/**
 * What is configured, and where each value comes from: first what is not the default.
 * @param {{path: string, title: string}} props `path` is where the control API has it
 */
export function Configuration({ path, title }) {
  const [open, setOpen] = useState(false);
  const [entries, setEntries] = useState(/** @type {{name: string, value: string | null, source: string}[]} */ ([]));
  useEffect(() => {
    if (!open) return;
    ask(path)
      .then((answer) => (answer.ok ? answer.json() : []))
      .then(setEntries)
      .catch(() => setEntries([]));
  }, [path, open]);
  const usual = (/** @type {{source: string}} */ each) => Number(each.source === "DEFAULT_CONFIG");
  const rows = [...entries].sort((a, b) => usual(a) - usual(b)).map((each) => [each.name, each.value ?? "–", each.source]);
  return html`<details class="configuration" onToggle=${(/** @type {any} */ e) => setOpen(e.currentTarget.open)}>
    <summary>${title}</summary>
    <${Table} title=${title} columns=${["name", "value", "source"]} rows=${rows} nothing="" />
  </details>`;
}

/** @param {Listed} record @returns {string} what it is searched for */
function wordsOf(record) {
  const headers = record.headers.map((/** @type {any} */ each) => `${each.key}=${each.value}`);
  return [record.key, record.value, ...headers].join(" ");
}

/**
 * A key or a value; one that was cut ends with how long it is.
 * @param {string | null} text @param {string} encoding @param {number | null} length in bytes @param {Shape} shape
 * @returns {string}
 */
export function shownAs(text, encoding, length, shape) {
  if (text === null || length === null) return "null";
  const bytes = encoding === "base64" ? Uint8Array.from(atob(text), (each) => each.charCodeAt(0)) : new TextEncoder().encode(text);
  const rest = bytes.length < length ? `… (${length} bytes)` : "";
  if (shape === "bytes") return [...bytes].map((each) => each.toString(16).padStart(2, "0")).join(" ") + rest;
  if (encoding === "base64") return `${text}${rest} (base64)`;
  if (shape === "JSON" && !rest) {
    try {
      return JSON.stringify(JSON.parse(text), null, 1);
    } catch {
      // Not JSON: as it is.
    }
  }
  return text + rest;
}

/**
 * Whether a record that is there now was there at a moment. Records of later leaders have replaced what was truncated.
 * @param {Listed} record @param {Partition} partition at that moment
 */
export function wasThere(record, { topic, partition, logStart, logEnd, leaderEpoch }) {
  const place = record.topic === topic && record.partition === partition;
  return place && record.offset >= logStart && record.offset < logEnd && record.leader_epoch <= leaderEpoch;
}

/**
 * What had become of a record's transaction when the log ended at `end`.
 * @param {Listed} record @param {Listed[]} all those that are there now @param {number} end @param {boolean} past
 * @returns {string}
 */
export function outcomeAt(record, all, end, past) {
  if (!record.transaction) return "–";
  if (record.transaction === "ongoing") return "open";
  const marker = all.find((each) => each.control && each.producer_id === record.producer_id && each.offset >= record.offset);
  if (marker) return marker.offset < end ? record.transaction : "open";
  return past ? `${record.transaction} by now` : record.transaction;
}

/**
 * Groups that are past a record, and clients that asked for what follows it.
 * @param {State} state @param {Partition} partition @param {number} offset @returns {string[]}
 */
export function readersOf(state, partition, offset) {
  const groups = [...partition.committed].filter(([, each]) => each.offset > offset).map(([group]) => `${group} committed`);
  const clients = [...(state.positions.get(partition.name) ?? [])].filter(([, next]) => next > offset).map(([client]) => `${client || "(no client id)"} read`);
  const shared = [...state.sharePartitions.values()].filter((each) => nameOf(each) === partition.name).flatMap((each) => {
    if (offset < each.start_offset) return [`${each.group} done`];
    const part = each.in_flight.find(([first, last]) => first <= offset && offset <= last);
    return part ? [`${each.group} ${part[2]}`] : [];
  });
  return [...groups, ...shared, ...clients];
}
