/**
 * The state of a cluster, as the events of a trace tell it.
 *
 * @typedef {Record<string, any> & {kind: string, number: number, time_ms: number}} Event
 * @typedef {{broker: number, leader: number, leader_epoch: number, log_start_offset: number,
 *   high_watermark: number, log_end_offset: number, epochs: [number, number][]}} Replica
 * @typedef {{offset: number, leader_epoch: number}} Committed
 * @typedef {Map<string, Map<string, number>>} Positions by partition and client, the offset last asked for
 * @typedef {Map<string, Set<string>>} Asked by group, the partitions of which it has asked for its committed offsets
 * @typedef {{group: string, member_id: string, group_instance_id: string | null, client_id: string, host: string,
 *   type: string, epoch: number, subscribed: string[], assigned: string[], active_tasks?: string[], standby_tasks?: string[]}} Member
 * @typedef {{group: string, topic: string, partition: number, coordinator: number, start_offset: number,
 *   in_flight: [number, number, string, number, string | null, number | null][]}} SharePartition
 *   of records in flight: first and last offset, state, deliveries, who has acquired them, and until when in ms
 * @typedef {{broker: number, group: string, member_id: string, epoch: number, names: string[]}} ShareSession
 * @typedef {{broker: number, missing: number, known: [string, number, number, number][]}} Image
 *   how many metadata records a broker has not learned of; by topic and index, another leader and leader epoch that it knows
 */

export class Partition {
  /** @param {string} topic @param {number} partition */
  constructor(topic, partition) {
    this.topic = topic;
    this.partition = partition;
    this.name = `${topic}-${partition}`;
    this.leader = -1;
    this.leaderEpoch = -1;
    /** @type {number[]} */
    this.isr = [];
    this.logStart = 0;
    this.highWatermark = 0;
    this.lastStable = 0;
    this.logEnd = 0;
    /** @type {Map<number, Replica>} */
    this.replicas = new Map();
    /** @type {Map<number, {state: string, failure: string}>} */
    this.followers = new Map();
    /** @type {Map<number, {producer_epoch: number, last_sequence: number}>} */
    this.producers = new Map();
    /** @type {Map<string, Committed>} */
    this.committed = new Map();
  }

  /** @returns {Replica[]} those of all brokers that should have one; some may have had nothing to do yet */
  lanes() {
    const brokers = new Set([...this.replicas.keys(), ...this.followers.keys()]);
    if (this.leader >= 0) brokers.add(this.leader);
    return [...brokers]
      .sort((a, b) => a - b)
      .map(
        (broker) =>
          this.replicas.get(broker) ?? {
            broker,
            leader: this.leader,
            leader_epoch: this.leaderEpoch,
            log_start_offset: this.logStart,
            high_watermark: this.logStart,
            log_end_offset: this.logStart,
            epochs: [],
          },
      );
  }
}

export class State {
  constructor() {
    this.timeMs = 0;
    this.number = 0;
    /** @type {Map<number, {state: string, fenced: boolean}>} */
    this.brokers = new Map();
    /** @type {Map<number, Image>} of brokers that have not learned of everything */
    this.images = new Map();
    /** @type {Map<string, {topic_id: string, partitions: number}>} */
    this.topics = new Map();
    /** @type {Map<string, string>} names by topic id, also of deleted topics */
    this.topicNames = new Map();
    /** @type {Map<string, Partition>} */
    this.partitions = new Map();
    /** @type {Map<string, Event>} */
    this.groups = new Map();
    /** @type {Map<string, Event>} */
    this.transactions = new Map();
    /** @type {Map<string, {state: string, ms: number}>} by transactional id, when it came into its state */
    this.since = new Map();
    /** @type {Map<string, Event>} the latest decision of each behaviour */
    this.decisions = new Map();
    /** @type {Positions} */
    this.positions = new Map();
    /** @type {Asked} */
    this.asked = new Map();
    /** @type {Map<string, Member>} by group and member id */
    this.members = new Map();
    /** @type {Map<string, SharePartition>} by group and partition */
    this.sharePartitions = new Map();
    /** @type {Map<number, string>} by producer id, the client that was given it, or wrote with it last */
    this.writers = new Map();
    /** @type {Map<string, ShareSession>} by broker, group and member id */
    this.shareSessions = new Map();
  }

  /** @returns {State} without anything but what keyframes don't tell */
  afresh() {
    const found = new State();
    found.positions = new Map([...this.positions].map(([name, clients]) => [name, new Map(clients)]));
    found.since = new Map(this.since);
    found.writers = new Map(this.writers);
    found.asked = new Map([...this.asked].map(([group, names]) => [group, new Set(names)]));
    // Requests have topic ids, also of topics that are gone.
    found.topicNames = this.topicNames;
    return found;
  }

  /**
   * @param {Event} event
   * @returns {"" | "back" | "first"} `back` if an offset went back, a committed one or one that a client asks
   *   for; `first` if it is what a partition begins with
   */
  apply(event) {
    if (event.time_ms !== undefined) {
      this.timeMs = event.time_ms;
      this.number = event.number;
    }
    switch (event.kind) {
      case "keyframe":
      case "appeared":
        for (const row of event.rows) this.apply(row);
        break;
      case "request":
        if (event.api === "OffsetFetch") this.#askedFor(event);
        else if (event.api === "Produce") this.#wrote(event);
        return event.api === "Fetch" && this.#fetched(event) ? "back" : "";
      case "answer":
        if (event.api === "InitProducerId" && event.body?.producer_id >= 0) this.writers.set(event.body.producer_id, event.client_id ?? "");
        break;
      case "decision":
        this.decisions.set(event.name, event);
        break;
      case "broker":
        this.brokers.set(event.broker, { state: event.state, fenced: event.fenced });
        break;
      case "image":
        keep(this.images, event.broker, event, event.missing === 0);
        break;
      case "group":
        this.groups.set(event.group, event);
        break;
      case "member":
        keep(this.members, JSON.stringify([event.group, event.member_id]), event, event.epoch === -1);
        break;
      case "share-partition":
        return this.#shared(event);
      case "share-session":
        keep(this.shareSessions, JSON.stringify([event.broker, event.group, event.member_id]), event, event.epoch === -1);
        break;
      case "transaction":
        this.transactions.set(event.transactional_id, event);
        if (this.since.get(event.transactional_id)?.state !== event.state) {
          this.since.set(event.transactional_id, { state: event.state, ms: this.timeMs });
        }
        break;
      case "topic":
        this.#topic(event);
        break;
      default:
        if (event.topic !== undefined && event.partition !== undefined) return this.#ofPartition(event);
    }
    return "";
  }

  /** @param {Event} event @returns {"" | "back"} */
  #shared(event) {
    const key = JSON.stringify([event.group, event.topic, event.partition]);
    const before = this.sharePartitions.get(key)?.start_offset ?? -1;
    keep(this.sharePartitions, key, event, event.start_offset === -1 && event.coordinator === -1);
    return event.start_offset >= 0 && event.start_offset < before ? "back" : "";
  }

  /** @param {string} topic @param {number} index */
  partition(topic, index) {
    const name = `${topic}-${index}`;
    let found = this.partitions.get(name);
    if (!found) this.partitions.set(name, (found = new Partition(topic, index)));
    return found;
  }

  /** @param {Event} event */
  #topic(event) {
    if (event.topic_id !== this.topics.get(event.topic)?.topic_id) {
      for (const each of [...this.partitions.values()]) {
        if (each.topic === event.topic) this.partitions.delete(each.name);
      }
    }
    this.topicNames.set(event.topic_id, event.topic);
    if (event.partitions) {
      this.topics.set(event.topic, { topic_id: event.topic_id, partitions: event.partitions });
      return;
    }
    this.topics.delete(event.topic);
    for (const each of [...this.partitions.values()]) {
      if (each.topic === event.topic) this.partitions.delete(each.name);
    }
  }

  /** @param {Event} event @returns {"" | "back" | "first"} */
  #ofPartition(event) {
    const one = this.partition(event.topic, event.partition);
    let first = false;
    switch (event.kind) {
      case "leader":
        first = one.leaderEpoch < 0 || (event.leader === one.leader && event.leader_epoch === one.leaderEpoch);
        one.leader = event.leader;
        one.leaderEpoch = event.leader_epoch;
        one.followers.delete(event.leader);
        break;
      case "in-sync-replicas":
        first = !one.isr.length;
        one.isr = event.in_sync_replicas;
        break;
      case "log-start":
        first = event.log_start_offset === one.logStart;
        one.logStart = event.log_start_offset;
        break;
      case "high-watermark":
        one.highWatermark = event.high_watermark;
        one.lastStable = event.last_stable_offset;
        one.logEnd = event.log_end_offset;
        break;
      case "follower":
        first = !one.followers.has(event.broker) && event.state === "in step";
        one.followers.set(event.broker, { state: event.state, failure: event.failure });
        break;
      case "replica":
        if (event.log_end_offset < 0) {
          one.replicas.delete(event.broker);
          one.followers.delete(event.broker);
        } else one.replicas.set(event.broker, /** @type {any} */ (event));
        break;
      case "producer":
        if (event.producer_epoch < 0 && event.last_sequence < 0) one.producers.delete(event.producer_id);
        else one.producers.set(event.producer_id, /** @type {any} */ (event));
        break;
      case "committed": {
        const before = one.committed.get(event.group)?.offset ?? -1;
        if (event.offset < 0) one.committed.delete(event.group);
        else one.committed.set(event.group, { offset: event.offset, leader_epoch: event.leader_epoch });
        return event.offset < before ? "back" : "";
      }
    }
    return first ? "first" : "";
  }

  /** @param {Event} event */
  #fetched(event) {
    if ((event.body?.replica_id ?? -1) >= 0 || (event.body?.replica_state?.replica_id ?? -1) >= 0) return false;
    let back = false;
    for (const topic of event.body?.topics ?? []) {
      const name = topic.topic || this.topicNames.get(topic.topic_id);
      if (!name) continue;
      for (const each of topic.partitions ?? []) {
        const key = `${name}-${each.partition}`;
        let clients = this.positions.get(key);
        if (!clients) this.positions.set(key, (clients = new Map()));
        const client = event.client_id ?? "";
        back ||= each.fetch_offset < (clients.get(client) ?? -1);
        clients.set(client, each.fetch_offset);
      }
    }
    return back;
  }

  /** @param {Event} event a Produce: of each partition, its first batch tells who writes */
  #wrote({ body, client_id }) {
    for (const topic of body?.topic_data ?? []) {
      for (const each of topic.partition_data ?? []) {
        const id = each.records?.[0]?.producer_id ?? -1;
        if (id >= 0) this.writers.set(id, client_id ?? "");
      }
    }
  }

  /** @param {Event} event an OffsetFetch: up to v7, traces may have its only group at the top */
  #askedFor({ body }) {
    for (const { group_id: group, topics } of body?.groups?.length ? body.groups : [body ?? {}]) {
      for (const topic of topics ?? []) {
        const name = topic.name || this.topicNames.get(topic.topic_id);
        let names = this.asked.get(group);
        if (!names) this.asked.set(group, (names = new Set()));
        for (const index of name ? (topic.partition_indexes ?? []) : []) names.add(`${name}-${index}`);
      }
    }
  }
}

/** @param {Map<any, any>} map @param {string | number} key @param {Event} event @param {boolean} gone */
function keep(map, key, event, gone) {
  if (gone) map.delete(key);
  else map.set(key, event);
}
