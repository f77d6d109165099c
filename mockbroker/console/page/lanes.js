import { html } from "./html.js";

/**
 * @typedef {import("./model.js").Partition} Partition
 * @typedef {import("./model.js").State} State
 * @typedef {import("./model.js").Replica} Replica
 * @typedef {{label: string, offset: number, kind: "committed" | "position"}} Marker
 */

export const COLOURS = 8;
const LEFT = 96;
const RIGHT = 14;
const LANE = 30;
const BAR = 16;
const TOP = 20;
const MARKERS = 34;
const END = 0.75;
/** This many offsets at the end of the log are drawn on most of the width; those before on the rest. */
const TAIL = 200;

/** @param {number} lanes @param {boolean} markers whether there are any @returns {number} px */
export function heightOf(lanes, markers) {
  return TOP + lanes * LANE + (markers ? MARKERS : 8);
}

/**
 * Where offsets are drawn, in px.
 * @param {number} from @param {number} to @param {number} width
 */
export function scale(from, to, width) {
  const room = Math.max(width - LEFT - RIGHT, 40);
  const span = Math.max(to - from, 1);
  if (span <= 2 * TAIL) return (/** @type {number} */ offset) => LEFT + ((offset - from) / span) * room;
  const bend = to - TAIL;
  return (/** @type {number} */ offset) =>
    offset <= bend
      ? LEFT + ((offset - from) / (bend - from)) * room * (1 - END)
      : LEFT + room * (1 - END) + ((offset - bend) / TAIL) * room * END;
}

/** @param {Partition} partition @param {State} state @returns {Marker[]} */
export function markersOf(partition, state) {
  /** @type {Marker[]} */
  const found = [];
  for (const [group, { offset }] of partition.committed) {
    if (state.groups.get(group)?.state !== "Dead") found.push({ label: group, offset, kind: "committed" });
  }
  for (const [client, offset] of state.positions.get(partition.name) ?? []) {
    found.push({ label: client || "(no client id)", offset, kind: "position" });
  }
  return found;
}

/**
 * A partition: a lane for each replica's log, coloured by leader epoch.
 * @param {{partition: Partition, state: State, width: number}} props
 */
export function Lanes({ partition, state, width }) {
  const replicas = partition.lanes();
  const markers = markersOf(partition, state);
  const ends = replicas.map((each) => each.log_end_offset);
  const from = Math.min(...replicas.map((each) => each.log_start_offset), partition.logEnd);
  const to = Math.max(...ends, partition.logEnd, ...markers.map((each) => each.offset), from + 1);
  const x = scale(from, to, width);
  const bottom = TOP + replicas.length * LANE;
  const height = heightOf(replicas.length, markers.length > 0);
  return html`<svg
    class="lanes"
    width=${width}
    height=${height}
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label=${inWords(partition, markers)}
  >
    <text x=${x(from)} y="12" class="offset">${from}</text>
    <text x=${x(to)} y="12" class="offset" text-anchor="end">${to}</text>
    ${replicas.map((each, index) => Lane({ replica: each, partition, state, x, y: TOP + index * LANE }))}
    ${Mark({ x: x(partition.highWatermark), bottom, name: "high-watermark" })}
    ${partition.lastStable !== partition.highWatermark &&
    Mark({ x: x(partition.lastStable), bottom, name: "last-stable" })}
    ${markers.map((each, index) => Pointer({ marker: each, x: x(each.offset), y: bottom, last: width, index }))}
  </svg>`;
}

/** @param {{replica: Replica, partition: Partition, state: State, x: (offset: number) => number, y: number}} props */
function Lane({ replica, partition, state, x, y }) {
  const { broker, epochs, log_start_offset: start, log_end_offset: end } = replica;
  const leads = partition.leader === broker;
  const running = (state.brokers.get(broker)?.state ?? "running") === "running";
  const follows = partition.followers.get(broker);
  const thinksItLeads = replica.leader === broker && !leads;
  const behind = replica.leader !== partition.leader || replica.leader_epoch !== partition.leaderEpoch;
  const role = !running
    ? state.brokers.get(broker)?.state
    : leads
      ? "leader"
      : thinksItLeads
        ? "thinks it leads"
        : (follows?.state ?? "follower");
  const knows = behind ? `, knows leader ${replica.leader}, epoch ${replica.leader_epoch}` : "";
  const out = partition.isr.includes(broker) ? "" : ", not in sync";
  const title = `broker ${broker}: ${role}${knows}${out}; log ${start} to ${end}, high watermark ${replica.high_watermark}${follows?.failure ? `; ${follows.failure}` : ""}`;
  const pieces = epochs.map(([epoch, first], index) => ({
    epoch,
    from: Math.max(first, start),
    to: index + 1 < epochs.length ? epochs[index + 1][1] : end,
  }));
  if (!epochs.length && end > start) pieces.push({ epoch: -1, from: start, to: end });
  return html`<g class="lane ${leads ? "leads" : ""} ${running ? "" : "down"}" data-broker=${broker}>
    <title>${title}</title>
    <text x="4" y=${y + 11} class="broker">${leads ? "★ " : ""}broker ${broker}</text>
    <text x="4" y=${y + 22} class="role ${behind ? "behind" : ""}">
      ${behind && running ? `sees ${replica.leader} @${replica.leader_epoch}` : role}${out && running ? " ✕" : ""}
    </text>
    <rect x=${x(start)} y=${y} width=${Math.max(x(end) - x(start), 1)} height=${BAR} class="log" />
    ${pieces
      .filter((each) => each.to > each.from)
      .map(
        (each) => html`<g>
          <rect
            x=${x(each.from)}
            y=${y}
            width=${Math.max(x(each.to) - x(each.from), 1)}
            height=${BAR}
            class="epoch epoch-${each.epoch < 0 ? "none" : each.epoch % COLOURS}"
            data-epoch=${each.epoch}
          />
          ${x(each.to) - x(each.from) > 22 &&
          html`<text x=${(x(each.from) + x(each.to)) / 2} y=${y + 12} class="in-bar" text-anchor="middle">
            ${each.epoch < 0 ? "?" : each.epoch}
          </text>`}
        </g>`,
      )}
    <line x1=${x(replica.high_watermark)} x2=${x(replica.high_watermark)} y1=${y - 2} y2=${y + BAR + 2} class="own-high-watermark" />
  </g>`;
}

/** @param {{x: number, bottom: number, name: string}} props */
function Mark({ x, bottom, name }) {
  return html`<line x1=${x} x2=${x} y1=${TOP - 6} y2=${bottom} class=${name} />`;
}

/** @param {{marker: Marker, x: number, y: number, last: number, index: number}} props */
function Pointer({ marker, x, y, last, index }) {
  const { label, offset, kind } = marker;
  const shape = kind === "committed" ? `M${x} ${y - 8} l5 9 h-10 z` : `M${x} ${y - 8} l5 5 -5 5 -5 -5 z`;
  const right = x > last * 0.6;
  return html`<g class="marker ${kind}" data-label=${label} data-offset=${offset}>
    <title>${kind === "committed" ? `group ${label} has committed` : `client ${label} asks from`} ${offset}</title>
    <path d=${shape} />
    <text x=${right ? x - 7 : x + 7} y=${y + 4 + (index % 3) * 10} text-anchor=${right ? "end" : "start"}>
      ${label} ${offset}
    </text>
  </g>`;
}

/** @param {Partition} partition @param {Marker[]} markers */
function inWords(partition, markers) {
  const { leader, leaderEpoch, logStart, highWatermark, logEnd } = partition;
  const who = leader < 0 ? "no leader" : `leader ${leader}`;
  const marked = markers.map((each) => `${each.label} ${each.kind === "committed" ? "committed" : "at"} ${each.offset}`);
  return [
    `${partition.name}: ${who}, leader epoch ${leaderEpoch}, log ${logStart} to ${logEnd}`,
    `high watermark ${highWatermark}`,
    ...marked,
  ].join(", ");
}
