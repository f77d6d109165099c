/**
 * What clients fetched of partitions, and what the commits of groups passed though nobody had fetched it.
 *
 * A Fetch request doesn't say for which group it is: a client reads for those whose member has its client id, and for
 * those in which it commits.
 *
 * @typedef {import("./model.js").Event} Event
 * @typedef {import("./recording.js").Recording} Recording
 * @typedef {{to: number, number: number, ms: number, touched: boolean}} Step
 *   an answer: up to which offset it had records, and whether a fault touched it
 * @typedef {{client: string, epoch: number, from: number, steps: Step[]}} Run
 *   what a client fetched, offset after offset, of one leader epoch: with another one, records are others
 * @typedef {{topic: string, runs: Run[], asked: Map<string, number>, end: number}} Fetched
 *   `asked` is where each client began; `end` is the log end offset
 * @typedef {{from: number, to: number, before: number, after: number, client: string, ms: number}} Passed
 *   `to` is the first offset that does not belong to it; committed `before` and `after`; empty `client` if none did it
 * @typedef {{name: string, commits: {number: number, offset: number}[], passed: Passed[],
 *   by: {offset: number, client: string} | null}} Place what a group has committed of a partition, and who asked for it last
 * @typedef {{name: string, from: number, to: number, fetched: {client: string, step: Step, committed: number}[]}} Again
 *   `committed` is what the group had committed then, -1 if nothing
 * @typedef {{skipped: (Passed & {name: string})[], again: Again[], unclear: Map<string, string[]>}} Found
 *   `unclear` has, by partition, the other groups whose clients have the same client ids: nothing is told of it
 */

export class Readings {
  constructor() {
    this.number = 0;
    /** Since when events are known, in ms; 0 if all of them are. */
    this.sinceMs = 0;
    /** Whether an answer was seen without its body, and one of which a part was left out. */
    this.noBodies = false;
    this.leftOut = false;
    this.#clear();
  }

  #clear() {
    /** @type {Map<string, Fetched>} */
    this.partitions = new Map();
    /** @type {Map<string, Map<string, Set<string>>>} by group and client, the partitions that it reads */
    this.readers = new Map();
    /** @type {Map<string, Map<string, Place>>} by group and partition */
    this.places = new Map();
    /** @type {Map<string, Map<string, number>>} by connection and partition, the offset last asked for */
    this.positions = new Map();
    /** @type {Map<string, string>} names by topic id */
    this.names = new Map();
  }

  /** @param {Event} event */
  add(event) {
    const begins = event.number !== this.number + 1;
    if (begins) {
      this.#clear();
      this.sinceMs = event.time_ms;
    }
    this.number = event.number;
    switch (event.kind) {
      case "keyframe":
        if (!begins && event.number > 1) break;
      // falls through
      case "appeared":
        for (const row of event.rows) this.#changed(row, event, true);
        break;
      case "request":
        if (event.api === "Fetch") this.#asked(event);
        else if (event.api === "OffsetCommit" || event.api === "TxnOffsetCommit") this.#commits(event);
        break;
      case "answer":
        if (event.api === "Fetch" && event.outcome === "answer") this.#answered(event);
        break;
      default:
        this.#changed(event, event, false);
    }
  }

  /** @param {Event} row @param {Event} event that it is of @param {boolean} known whether nothing need have happened */
  #changed(row, event, known) {
    switch (row.kind) {
      case "topic":
        if (this.names.get(row.topic_id) !== row.topic || !row.partitions) this.#forget(row.topic);
        this.names.set(row.topic_id, row.topic);
        break;
      case "high-watermark":
        this.#partition(row.topic, row.partition).end = row.log_end_offset;
        break;
      case "member":
        if (row.type !== "share") for (const name of row.assigned) this.#reads(row.group, row.client_id ?? "", name);
        break;
      case "committed":
        if (row.offset >= 0) this.#committed(row, event, known);
    }
  }

  /** @param {string} topic what was fetched of it is gone with it */
  #forget(topic) {
    for (const [name, { topic: its }] of [...this.partitions]) {
      if (its !== topic) continue;
      this.partitions.delete(name);
      for (const places of this.places.values()) places.delete(name);
    }
  }

  /** @param {string} topic @param {number} index */
  #partition(topic, index) {
    const name = `${topic}-${index}`;
    let found = this.partitions.get(name);
    if (!found) this.partitions.set(name, (found = { topic, runs: [], asked: new Map(), end: 0 }));
    return found;
  }

  /** @param {string} group @param {string} client @param {string} name */
  #reads(group, client, name) {
    let clients = this.readers.get(group);
    if (!clients) this.readers.set(group, (clients = new Map()));
    let names = clients.get(client);
    if (!names) clients.set(client, (names = new Set()));
    names.add(name);
  }

  /** @param {string} group @param {string} name */
  #place(group, name) {
    let places = this.places.get(group);
    if (!places) this.places.set(group, (places = new Map()));
    let found = places.get(name);
    if (!found) places.set(name, (found = { name, commits: [], passed: [], by: null }));
    return found;
  }

  /** @param {Event} event an OffsetCommit or TxnOffsetCommit */
  #commits({ api, client_id, body }) {
    for (const each of body?.topics ?? []) {
      const topic = each.name || this.names.get(each.topic_id);
      if (!topic) continue;
      for (const { partition_index, committed_offset } of each.partitions ?? []) {
        const name = `${topic}-${partition_index}`;
        this.#place(body.group_id, name).by = { offset: committed_offset, client: client_id ?? "" };
        // A transaction's producer has a client id of its own.
        if (api === "OffsetCommit") this.#reads(body.group_id, client_id ?? "", name);
      }
    }
  }

  /** @param {Event} event a Fetch */
  #asked({ broker, connection, client_id, body }) {
    if ((body?.replica_id ?? -1) >= 0 || (body?.replica_state?.replica_id ?? -1) >= 0) return;
    const key = `${broker} ${connection}`;
    let positions = this.positions.get(key);
    if (!positions) this.positions.set(key, (positions = new Map()));
    for (const each of body?.topics ?? []) {
      const topic = each.topic || this.names.get(each.topic_id);
      if (!topic) continue;
      for (const { partition, fetch_offset } of each.partitions ?? []) {
        const { asked } = this.#partition(topic, partition);
        const client = client_id ?? "";
        positions.set(`${topic}-${partition}`, fetch_offset);
        if (!asked.has(client)) asked.set(client, fetch_offset);
      }
    }
  }

  /** @param {Event} event a Fetch */
  #answered(event) {
    const { broker, connection, client_id, body } = event;
    if (!body?.responses) {
      this.noBodies = true;
      return;
    }
    this.leftOut ||= body.left_out > 0;
    const positions = this.positions.get(`${broker} ${connection}`);
    if (!positions) return;
    for (const each of body.responses) {
      const topic = each.topic || this.names.get(each.topic_id);
      if (!topic) continue;
      for (const { partition_index, records } of each.partitions ?? []) {
        // A batch may begin before the offset that was asked for; where compaction has left gaps, nothing is missed.
        let from = positions.get(`${topic}-${partition_index}`) ?? -1;
        for (const { base_offset, last_offset, records: count, leader_epoch } of records ?? []) {
          if (base_offset === undefined) continue;
          const to = (last_offset ?? base_offset + count - 1) + 1;
          if (from < 0) from = base_offset;
          if (to > from) this.#fetched(this.#partition(topic, partition_index), client_id ?? "", leader_epoch, from, to, event);
          from = Math.max(from, to);
        }
      }
    }
  }

  /** @param {Fetched} fetched @param {string} client @param {number} epoch @param {number} from @param {number} to @param {Event} event */
  #fetched({ runs }, client, epoch, from, to, event) {
    const step = { to, number: event.number, ms: event.time_ms, touched: event.faults?.length > 0 };
    const last = runs.findLast((each) => each.client === client);
    if (last && last.epoch === epoch && endOf(last) === from) last.steps.push(step);
    else runs.push({ client, epoch, from, steps: [step] });
  }

  /** @param {Event} row @param {Event} event @param {boolean} known */
  #committed({ group, topic, partition, offset }, event, known) {
    const place = this.#place(group, `${topic}-${partition}`);
    const before = place.commits.at(-1)?.offset;
    if (before === offset) return;
    place.commits.push({ number: event.number, offset });
    if (known) return;
    const from = before ?? this.#beginning(group, place.name);
    // What does not exist is not skipped.
    const to = Math.min(offset, this.#partition(topic, partition).end);
    const client = place.by && place.by.offset === offset ? place.by.client : "";
    for (const [first, end] of without([from, to], this.#runs(group, place.name))) {
      place.passed.push({ from: first, to: end, before: before ?? -1, after: offset, client, ms: event.time_ms });
    }
  }

  /** @param {string} group @param {string} name @returns {number} where it began to read; Infinity if it did not */
  #beginning(group, name) {
    const asked = this.partitions.get(name)?.asked ?? new Map();
    return Math.min(...[...asked].filter(([client]) => this.#isReader(group, client, name)).map(([, offset]) => offset));
  }

  /** @param {string} group @param {string} client @param {string} name */
  #isReader(group, client, name) {
    return this.readers.get(group)?.get(client)?.has(name) ?? false;
  }

  /** @param {string} group @param {string} name @returns {Run[]} */
  #runs(group, name) {
    return (this.partitions.get(name)?.runs ?? []).filter((each) => this.#isReader(group, each.client, name));
  }

  /** @param {string} group @returns {Found} */
  of(group) {
    /** @type {Found} */
    const found = { skipped: [], again: [], unclear: new Map() };
    const places = this.places.get(group) ?? new Map();
    const read = [...(this.readers.get(group)?.values() ?? [])].flatMap((names) => [...names]);
    for (const name of [...new Set([...places.keys(), ...read])].sort()) {
      const runs = this.#runs(group, name);
      const others = this.#sharing(group, name, runs);
      if (others.length) {
        found.unclear.set(name, others);
        continue;
      }
      const place = places.get(name);
      for (const each of place?.passed ?? []) {
        for (const [from, to] of without([each.from, each.to], runs)) found.skipped.push({ ...each, name, from, to });
      }
      found.again.push(...againIn(name, runs, place?.commits ?? []));
    }
    return found;
  }

  /** @param {string} group @param {string} name @param {Run[]} runs @returns {string[]} other groups for which they may be */
  #sharing(group, name, runs) {
    const clients = new Set(runs.map((each) => each.client));
    return [...this.readers.keys()].filter(
      (other) => other !== group && [...clients].some((client) => this.#isReader(other, client, name)),
    );
  }
}

/** @param {Run} run */
function endOf(run) {
  return run.steps[run.steps.length - 1].to;
}

/** @param {Run} run @param {number} offset @returns {Step} the answer that had it */
function stepOf(run, offset) {
  let low = 0;
  let high = run.steps.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.steps[middle].to > offset) high = middle;
    else low = middle + 1;
  }
  return run.steps[low];
}

/** @param {[number, number]} range @param {Run[]} runs @returns {[number, number][]} what is in none of them */
function without([from, to], runs) {
  /** @type {[number, number][]} */
  const found = [];
  for (const run of [...runs].sort((a, b) => a.from - b.from)) {
    if (run.from >= to) break;
    if (run.from > from) found.push([from, run.from]);
    from = Math.max(from, endOf(run));
  }
  if (from < to) found.push([from, to]);
  return found;
}

/** @param {string} name @param {Run[]} runs @param {Place["commits"]} commits @returns {Again[]} ranges that are in several */
function againIn(name, runs, commits) {
  /** @type {Again[]} */
  const found = [];
  for (const epoch of new Set(runs.map((each) => each.epoch))) {
    const same = runs.filter((each) => each.epoch === epoch).sort((a, b) => a.from - b.from);
    const cuts = [...new Set(same.flatMap((each) => [each.from, endOf(each)]))].sort((a, b) => a - b);
    let next = 0;
    /** @type {Run[]} */
    let open = [];
    for (const [index, from] of cuts.entries()) {
      open = open.filter((each) => endOf(each) > from);
      while (next < same.length && same[next].from === from) open.push(same[next++]);
      if (open.length < 2) continue;
      const end = cuts[index + 1];
      const parts = [...new Set([from, end, ...open.flatMap((each) => each.steps.map((step) => step.to))])];
      const within = parts.filter((each) => each >= from && each <= end).sort((a, b) => a - b);
      for (const [at, start] of within.slice(0, -1).entries()) join(found, { name, from: start, to: within[at + 1], fetched: fetchedAt(start, open, commits) });
    }
  }
  return found;
}

/** @param {number} offset @param {Run[]} runs @param {Place["commits"]} commits @returns {Again["fetched"]} in the order in which they did */
function fetchedAt(offset, runs, commits) {
  return runs
    .map((each) => {
      const step = stepOf(each, offset);
      return { client: each.client, step, committed: commits.findLast(({ number }) => number < step.number)?.offset ?? -1 };
    })
    .sort((a, b) => a.step.number - b.step.number);
}

/** @param {Again[]} found @param {Again} one is one with the range before it if the same is told of both */
function join(found, one) {
  const last = found.at(-1);
  const same =
    last?.name === one.name &&
    last.to === one.from &&
    last.fetched.length === one.fetched.length &&
    last.fetched.every(({ client, committed }, index) => client === one.fetched[index].client && committed === one.fetched[index].committed);
  if (same) last.to = one.to;
  else found.push(one);
}
