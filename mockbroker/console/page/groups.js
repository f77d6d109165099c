import { useAddress } from "./address.js";
import { html, useMemo, useRef } from "./html.js";
import { usePolled } from "./polled.js";
import { Lag, Lags } from "./lag.js";
import { Readings } from "./reading.js";
import { readUpTo } from "./recording.js";
import { Configuration } from "./records.js";
import { countsOf, lagOf, nameOf, whoIs, whyNothing } from "./sharing.js";
import { Table } from "./tables.js";
import { offsets, placesOf, time, visible } from "./words.js";

/**
 * @typedef {import("./model.js").State} State
 * @typedef {import("./model.js").Event} Event
 * @typedef {import("./recording.js").Recording} Recording
 * @typedef {(operation: string, values: Record<string, string>) => void} Act opens the form of an operation
 */

/** @type {string[]} */
const NONE = [];
/** Of so many groups the lag is drawn. */
const MOST_LAGS = 6;
/** What can be done to a group: the operation, what it is called here, and for which types of groups. */
const DOINGS = [
  ["groups-expire-locks", "expire locks", ["share"]],
  ["groups-configure", "configure", ["share", "consumer"]],
  ["groups-alter-offset", "alter an offset", ["share", "consumer", "classic"]],
  ["groups-move-coordinator", "move coordinator", ["share", "consumer", "classic"]],
];

/**
 * Groups of all types, their members, and where they are in their partitions.
 * @param {{state: State, recording: Recording, number: number, live: boolean, act: Act | null}} props
 *   `live` is whether the present is shown; `act` is null if nothing can be done
 */
export function Groups({ state, recording, number, live, act }) {
  const [picked, setPicked] = useAddress("group");
  const groups = [...state.groups.values()].filter((each) => each.state !== "Dead");
  const chosen = groups.some((each) => each.group === picked) ? picked : "";
  const one = groups.length === 1 ? groups[0] : groups.find((each) => each.group === chosen);
  const shown = (/** @type {Record<string, any>} */ each) => !chosen || each.group === chosen;
  const committed = offsetsOf(state);
  const totals = totalsOf(state, committed);
  return html`<div class="filters">
      <label>group <select value=${chosen} onChange=${(/** @type {any} */ e) => setPicked(e.currentTarget.value)}>
        <option value="">all</option>${groups.map((each) => html`<option value=${each.group}>${visible(each.group)}</option>`)}
      </select></label>
      ${act && one && DOINGS.filter(([, , types]) => types.includes(typeOf(one))).map(
        ([id, title]) => html`<button type="button" onClick=${() => act(String(id), { group: one.group })}>${title}</button>`,
      )}
    </div>
    ${live && html`<${Hints} />`}
    <${Table} title="Groups" columns=${["group", "type", "state", "generation", "members", "lag", "coordinator"]}
      rows=${groups.filter(shown).map((each) => [each.group, typeOf(each), each.state, each.generation, each.members, totals.get(each.group) ?? "–", each.coordinator])}
      nothing="No groups yet. A group is here once a client has joined it, or has committed an offset for it." />
    ${act && one && ["share", "consumer"].includes(typeOf(one)) && html`<${Configuration} path=${`/groups/${encodeURIComponent(one.group)}/config`} title=${`Configuration of ${one.group}, at present`} />`}
    <${Members} state=${state} shown=${shown} act=${act} />
    <${Shared} state=${state} shown=${shown} />
    <${InFlight} state=${state} shown=${shown} />
    <${Sessions} state=${state} shown=${shown} act=${act} />
    <${Table} title="Committed offsets" columns=${["group", "partition", "offset", "leader epoch", "lag", "assigned to"]}
      rows=${committed.filter(([group]) => shown({ group })).map((row) => [...row, ownerOf(state, row[0], row[1])])}
      nothing=${groups.length ? "It has committed no offsets." : ""} />
    <${Behind} recording=${recording} number=${number} groups=${groups.filter(shown).map((each) => each.group)} ms=${state.timeMs} />
    <${Reading} recording=${recording} number=${number} groups=${groups.filter(shown).filter((each) => typeOf(each) !== "share").map((each) => each.group)} />`;
}

/**
 * Each group's lag over time.
 * @param {{recording: Recording, number: number, groups: string[], ms: number}} props `ms` is when the moment was that is shown
 */
function Behind({ recording, number, groups, ms }) {
  const kept = useRef({ recording: /** @type {Recording | null} */ (null), first: 0, reader: new Lags() });
  const { points } = readUpTo(kept.current, () => new Lags(), recording, number);
  const known = groups.filter((group) => points.get(group)?.length);
  if (!known.length) return groups.length ? html`<p class="nothing">No group has committed an offset, so there is no lag over time.</p>` : "";
  return html`<section class="behind" aria-label="lag over time"><h3>Lag over time</h3>
    ${known.slice(0, MOST_LAGS).map((group) => html`<${Lag} key=${group} group=${visible(group)} points=${points.get(group) ?? []} until=${ms} />`)}
    ${known.length > MOST_LAGS && html`<p class="nothing">Choose a group: these are ${MOST_LAGS} of ${known.length}.</p>`}</section>`;
}

/**
 * Which records groups skipped, and which their members fetched more than once, up to the moment that is shown.
 * @param {{recording: Recording, number: number, groups: string[]}} props
 */
function Reading({ recording, number, groups }) {
  const kept = useRef({ recording: /** @type {Recording | null} */ (null), first: 0, reader: new Readings() });
  const readings = readUpTo(kept.current, () => new Readings(), recording, number);
  const found = useMemo(() => groups.map((group) => ({ group, ...readings.of(group) })), [readings, readings.number, groups.join("\n")]);
  if (!groups.length) return "";
  const title = html`<h3>Skipped, or fetched more than once</h3>`;
  if (readings.noBodies) {
    return html`<section class="reading" aria-label="skipped or fetched more than once">${title}
      <p>This trace has no answers of brokers, which would tell it: <code>--trace</code>, <code>--console</code> and <code>MockCluster(trace=True)</code> keep them.</p></section>`;
  }
  const skipped = found.flatMap(({ group, skipped: ranges }) =>
    ranges.map((each) => [group, each.name, offsets(each.from, each.to - 1), each.before < 0 ? "–" : each.before, each.after, each.client || "–", time(each.ms)]),
  );
  const again = found.flatMap(({ group, again: ranges }) =>
    ranges.map(({ name, from, to, fetched }) => {
      const last = fetched[fetched.length - 1];
      return [group, name, offsets(from, to - 1), fetched.length, fetchedBy(fetched[0]), fetchedBy(last), last.committed < 0 ? "–" : last.committed];
    }),
  );
  const unclear = found.flatMap(({ group, unclear: names }) =>
    [...names].map(([name, others]) => `${name}: clients of the groups ${[group, ...others].join(", ")} have the same client id.`),
  );
  const where = unclear.length ? "Of all other partitions: n" : "N";
  return html`<section class="reading" aria-label="skipped or fetched more than once">${title}
    ${readings.sinceMs > 0 && html`<p>Only since ${time(readings.sinceMs)}: events before that are not there.</p>`}
    ${readings.leftOut && html`<p>Some answers had more partitions than a trace keeps: what was fetched of these may be told as skipped.</p>`}
    ${unclear.length > 0 && html`<p>It can't be told who fetched records of</p><ul>${unclear.map((each) => html`<li>${each}</li>`)}</ul>`}
    <${Table} title="Skipped records" columns=${["group", "partition", "offsets", "committed before", "committed then", "by client", "at"]} rows=${skipped}
      nothing=${`${where}o commit passed records that no member had fetched.`} />
    <${Table} title="Records fetched more than once" columns=${["group", "partition", "offsets", "times", "first", "last", "committed before the last"]} rows=${again}
      nothing=${`${where}o records were fetched more than once.`} />
    ${again.length > 0 && html`<p class="nothing">Clients fetch ahead: what was not committed yet when it was fetched again may not have been processed before.</p>`}
  </section>`;
}

/** @param {import("./reading.js").Again["fetched"][0]} one */
function fetchedBy({ client, step }) {
  return `${time(step.ms)} ${client || "(no client id)"}${step.touched ? " ⚡" : ""}`;
}

/** @param {State} state @param {any[][]} committed @returns {Map<string, number>} the lag of each group in all partitions where it has one */
export function totalsOf(state, committed) {
  /** @type {Map<string, number>} */
  const found = new Map();
  const add = (/** @type {string} */ group, /** @type {any} */ lag) => typeof lag === "number" && found.set(group, (found.get(group) ?? 0) + lag);
  for (const [group, , , , lag] of committed) add(group, lag);
  for (const each of state.sharePartitions.values()) add(each.group, lagOf(state, each));
  return found;
}

/** @param {State} state @param {string} group @param {string} partition its name @returns {string} the member that has it */
function ownerOf(state, group, partition) {
  const owner = [...state.members.values()].find((each) => each.group === group && each.assigned.includes(partition));
  return owner ? whoIs(state, group, owner.member_id) : "–";
}

/** @param {Event} group @returns {string} earlier traces have no types */
function typeOf(group) {
  return group.type ?? "classic";
}

/** Possible reasons why a client gets nothing, at this moment. @param {{nothing?: string}} props what is said if there are none */
export function Hints({ nothing = "" }) {
  const hints = usePolled("/hints", NONE);
  if (!hints.length) return nothing && html`<p class="nothing">${nothing}</p>`;
  return html`<section class="hints" aria-label="hints"><h3>Why a client may get nothing</h3><ul>${hints.map((each) => html`<li>${each}</li>`)}</ul></section>`;
}

/** @typedef {(each: Record<string, any>) => boolean} Shown whether something of that group is shown */

/** @param {{state: State, shown: Shown, act: Act | null}} props */
function Members({ state, shown, act }) {
  const members = [...state.members.values()].filter(shown);
  const haveTasks = members.some((each) => each.type === "streams");
  const rows = members.map((each) => [
    each.group,
    each.client_id,
    each.member_id,
    each.type,
    each.epoch,
    each.subscribed.join(", ") || "–",
    placesOf(each.assigned) || "–",
    ...(haveTasks ? [tasksOf(each, each.active_tasks), tasksOf(each, each.standby_tasks)] : []),
    ...(act ? [html`<button type="button" onClick=${() => act("groups-evict", { group: each.group, member: each.member_id })}>evict</button>`] : []),
  ]);
  const columns = ["group", "client", "member", "protocol", "epoch", "subscribed", "assigned", ...(haveTasks ? ["active tasks", "standby tasks"] : []), ...(act ? ["do"] : [])];
  const known = [...state.groups.values()].some((each) => each.state !== "Dead" && shown(each));
  return html`<${Table} title="Members" columns=${columns} rows=${rows} nothing=${known ? "Nobody is in it." : ""} />`;
}

/** @param {import("./model.js").Member} member @param {string[] | undefined} tasks earlier traces have none */
function tasksOf(member, tasks) {
  return member.type === "streams" && tasks ? tasks.join(", ") || "none" : "–";
}

/** @param {{state: State, shown: Shown}} props */
function Shared({ state, shown }) {
  const rows = [...state.sharePartitions.values()].filter(shown).map((each) => {
    const { available, acquired, acknowledged, archiving, archived } = countsOf(each);
    const most = Math.max(0, ...each.in_flight.map((part) => part[3]));
    const start = each.start_offset < 0 ? "–" : each.start_offset;
    const coordinator = each.coordinator < 0 ? "–" : each.coordinator;
    const counts = [available, acquired, acknowledged, archived, archiving, most];
    return [each.group, nameOf(each), whyNothing(state, each) || "–", start, lagOf(state, each), ...counts, coordinator];
  });
  const counted = ["available", "acquired", "acknowledged", "archived", "to dead letters", "most deliveries"];
  const columns = ["group", "partition", "why nothing is delivered", "start offset", "lag", ...counted, "share coordinator"];
  return html`<${Table} title="Share partitions" columns=${columns} rows=${rows} nothing="" />`;
}

/** @param {{state: State, shown: Shown}} props */
function InFlight({ state, shown }) {
  const rows = [...state.sharePartitions.values()].filter(shown).flatMap((each) =>
    each.in_flight.map(([first, last, how, deliveries, member, until]) => [
      each.group,
      nameOf(each),
      offsets(first, last),
      how,
      deliveries,
      member === null ? "–" : whoIs(state, each.group, member),
      until === null ? "–" : time(until),
    ]),
  );
  const columns = ["group", "partition", "offsets", "state", "deliveries", "acquired by", "until"];
  return html`<${Table} title="Records in flight" columns=${columns} rows=${rows} nothing="" />`;
}

/** @param {{state: State, shown: Shown, act: Act | null}} props */
function Sessions({ state, shown, act }) {
  const rows = [...state.shareSessions.values()].filter(shown).map((each) => [
    each.broker,
    each.group,
    whoIs(state, each.group, each.member_id),
    each.epoch,
    placesOf(each.names) || "–",
    ...(act ? [html`<button type="button" onClick=${() => act("brokers-drop-share-sessions", { broker: String(each.broker) })}>drop those of broker ${each.broker}</button>`] : []),
  ]);
  const columns = ["broker", "group", "member", "epoch", "partitions", ...(act ? ["do"] : [])];
  return html`<${Table} title="Share sessions" columns=${columns} rows=${rows} nothing="" />`;
}

/**
 * The committed offsets of groups, with their lag. As Kafka's own kafka-consumer-groups.sh has it, a partition that a group
 * reads without having committed anything is there, and has no lag.
 * @param {State} state @returns {any[][]} group, partition, offset, leader epoch and lag
 */
export function offsetsOf(state) {
  /** @type {any[][]} */
  const found = [];
  for (const partition of state.partitions.values()) {
    const reading = [...state.asked].filter(([, names]) => names.has(partition.name)).map(([group]) => group);
    for (const group of new Set([...partition.committed.keys(), ...reading])) {
      if (state.groups.get(group)?.state === "Dead") continue;
      const one = partition.committed.get(group);
      const lag = one ? partition.highWatermark - one.offset : "–";
      found.push([group, partition.name, one?.offset ?? "–", one && one.leader_epoch >= 0 ? one.leader_epoch : "–", lag]);
    }
  }
  return found.sort((a, b) => (a[0] === b[0] ? 0 : a[0] < b[0] ? -1 : 1));
}
