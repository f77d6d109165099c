import { html, useMemo, useRef } from "./html.js";

/**
 * @typedef {import("./model.js").Partition} Partition
 * @typedef {import("./model.js").State} State
 * @typedef {keyof typeof LEVELS} Kind
 * @typedef {{kind: Kind, words: string}} Trouble
 */

/** From this many partitions on there is a map of them. */
const MAP_FROM = 8;
const CELL = 16;
/** 3: nobody can read or write; 2: a replica is missing or believes something else; 1: something waits. */
const LEVELS = { leaderless: 3, "out of sync": 2, late: 2, "held back": 1, none: 0 };
/** What is said of the number of partitions, the worst first. @type {[Kind, string][]} */
const TOLD = [
  ["leaderless", "without a leader"],
  ["out of sync", "with replicas out of sync"],
  ["late", "whose leader epoch a broker does not know"],
  ["held back", "whose last stable offset waits for a transaction"],
];
/** @type {Trouble} */
const NO_TROUBLE = { kind: "none", words: "" };
/** Groups in these states have no assignment that holds. */
const UNSETTLED = new Set(["PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "NotReady"]);

/** @param {Partition} partition @param {State} state @returns {Trouble} the worst of what there is */
export function troubleOf(partition, state) {
  const { leader, leaderEpoch, isr, lastStable, highWatermark } = partition;
  if (leader < 0) return { kind: "leaderless", words: "has no leader" };
  const replicas = partition.lanes();
  const out = replicas.map((each) => each.broker).filter((each) => !isr.includes(each));
  if (out.length && isr.length) return { kind: "out of sync", words: `not in sync: ${named(out)}` };
  const late = replicas.filter((each) => each.leader_epoch !== leaderEpoch && runs(state, each.broker)).map((each) => each.broker);
  if (late.length) return { kind: "late", words: `does not know leader epoch ${leaderEpoch}: ${named(late)}` };
  if (lastStable < highWatermark) return { kind: "held back", words: `the last stable offset waits at ${lastStable} for a transaction` };
  return NO_TROUBLE;
}

/** @param {State} state @param {number} broker */
function runs(state, broker) {
  return (state.brokers.get(broker)?.state ?? "running") === "running";
}

/** @param {number[]} brokers */
function named(brokers) {
  return `broker${brokers.length > 1 ? "s" : ""} ${brokers.join(", ")}`;
}

/**
 * The cluster in some short sentences, the worst first.
 * @param {State} state @param {Map<Partition, Trouble>} troubles of all partitions
 * @returns {string[]} none if all is well
 */
export function healthOf(state, troubles) {
  /** @type {string[]} */
  const found = [];
  for (const [id, { state: how, fenced }] of state.brokers) {
    if (how !== "running") found.push(`broker ${id} is ${how}`);
    else if (fenced) found.push(`broker ${id} is running, but fenced`);
  }
  const kinds = [...troubles.values()].map((each) => each.kind);
  for (const [kind, words] of TOLD) {
    const many = kinds.filter((each) => each === kind).length;
    if (many) found.push(`${many} partition${many > 1 ? "s" : ""} ${words}`);
  }
  for (const { group, state: how } of state.groups.values()) {
    if (UNSETTLED.has(how)) found.push(`group ${group} is in ${how}`);
  }
  return found;
}

/**
 * One line on the cluster, and a cell for each partition, those with trouble first.
 * @param {{partitions: Partition[], state: State, chosen: string, choose: (name: string) => void}} props
 */
export function Overview({ partitions, state, chosen, choose }) {
  const troubles = new Map([...state.partitions.values()].map((each) => [each, troubleOf(each, state)]));
  const health = healthOf(state, troubles);
  const most = 4;
  const more = health.length > most ? `; and ${health.length - most} more` : "";
  return html`<section class="overview" aria-label="overview">
    <p class="health ${health.length ? "bad" : ""}">
      ${!state.brokers.size ? "Nothing is known yet." : health.length ? health.slice(0, most).join("; ") + more : `All is well: ${state.brokers.size} brokers run, every partition has its leader and all its replicas in sync.`}
    </p>
    ${partitions.length >= MAP_FROM && html`<${Heat} partitions=${partitions} troubles=${troubles} chosen=${chosen} choose=${choose} />`}
  </section>`;
}

/**
 * Drawn again only when a cell changes, since there may be a thousand. The keyboard comes to one cell, and goes on with the arrows.
 * @param {{partitions: Partition[], troubles: Map<Partition, Trouble>, chosen: string, choose: (name: string) => void}} props
 */
function Heat({ partitions, troubles, chosen, choose }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const key = (/** @type {KeyboardEvent} */ event) => {
    const buttons = [...(box.current?.querySelectorAll("button") ?? [])];
    const place = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const across = Math.max(Math.floor((box.current?.clientWidth ?? CELL) / CELL), 1);
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[event.key];
    if (!by) return;
    event.preventDefault();
    buttons[Math.min(Math.max(place + by, 0), buttons.length - 1)]?.focus();
  };
  const cells = partitions.map((each) => ({ name: each.name, ...(troubles.get(each) ?? NO_TROUBLE) }));
  const drawn = useMemo(() => {
    const sorted = cells.sort((a, b) => LEVELS[b.kind] - LEVELS[a.kind]);
    const at = Math.max(sorted.findIndex((each) => each.name === chosen), 0);
    return sorted.map(({ name, kind, words }, index) => {
      const level = LEVELS[kind];
      const told = `${name}: ${words || "well"}`;
      return html`<button type="button" key=${name} class="cell level-${level}" data-cell=${name} title=${told} aria-label=${told}
        aria-pressed=${name === chosen} tabindex=${index === at ? 0 : -1} onClick=${() => choose(name)}>${level ? "!" : ""}</button>`;
    });
  }, [chosen, cells.map((each) => `${each.name} ${each.words}`).join("\n")]);
  return html`<div ref=${box} class="heat" role="group" aria-label="partitions by trouble" onKeyDown=${key}>${drawn}</div>`;
}
