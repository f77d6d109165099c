// Driver: confluent-kafka-javascript, of the package @confluentinc/kafka-javascript

// The promises of @confluentinc/kafka-javascript, which wraps librdkafka. They can't be assigned partitions, and tell no
// positions; errors of consumers are logged, and not told.

import confluent from '@confluentinc/kafka-javascript'
import {
  SECURITY, binary, event, handle, headersByName, headersInOrder, record, serve, sleepUntil, taking, version,
} from './shared/lines.js'

const { CODES: { ERRORS }, KafkaJS, librdkafkaVersion } = confluent
const { IsolationLevel } = KafkaJS
const NAMES = new Map(Object.entries(ERRORS).map(([name, code]) => [code, name]))

// Some errors are of several things, of which ours asks for one.
const first = (error) => error.errors?.[0] ?? error.partitions?.[0]?.error ?? error

function described(told) {
  const error = first(told)
  return {
    name: NAMES.get(error.code) ?? error.name,
    message: error.message,
    code: error.code > 0 ? error.code : null,
    // What is refused after a fatal error says only that there was one.
    fatal: error.code === ERRORS.ERR__FATAL || (error.fatal ?? error.isFatal ?? null),
    retriable: error.retriable ?? error.isRetriable ?? null,
    abortable: error.abortable ?? error.isTxnRequiresAbort ?? null,
  }
}

// Settings, and their names in librdkafka if these are others.
const COMMON = same(
  SECURITY, ['bootstrap.servers', 'client.id', 'retry.backoff.ms', 'reconnect.backoff.ms', 'reconnect.backoff.max.ms'],
  { 'request.timeout.ms': 'socket.timeout.ms', 'metadata.max.age.ms': 'topic.metadata.refresh.interval.ms' })
const PRODUCES = same(
  COMMON, [
    'acks', 'compression.type', 'enable.idempotence', 'linger.ms', 'max.in.flight.requests.per.connection',
    'transactional.id', 'transaction.timeout.ms',
  ], { 'max.request.size': 'message.max.bytes', 'delivery.timeout.ms': 'message.timeout.ms' })
const CLASSIC = ['session.timeout.ms', 'heartbeat.interval.ms', 'partition.assignment.strategy']
const CONSUMES = same(
  COMMON, CLASSIC, [
    'group.id', 'group.instance.id', 'group.protocol', 'auto.commit.interval.ms', 'auto.offset.reset',
    'enable.auto.commit', 'isolation.level', 'max.poll.interval.ms',
  ], { 'fetch.max.wait.ms': 'fetch.wait.max.ms', 'max.poll.records': 'js.consumer.max.batch.size' })

function same(...names) {
  return Object.assign({}, ...names.map((each) =>
    (Array.isArray(each) ? Object.fromEntries(each.map((name) => [name, name])) : each)))
}

function configured(given, names, without = []) {
  const taken = Object.entries(given).filter(([name]) => name in names && !without.includes(name))
  return Object.fromEntries(taken.map(([name, value]) => [names[name], value]))
}

class Producer {
  static settings = Object.keys(PRODUCES)

  constructor(name, { config: given }) {
    this.producer = new KafkaJS.Kafka().producer(configured(given, PRODUCES))
  }

  start() {
    return this.producer.connect()
  }

  async produce({ topic, partition, key, value, headers }) {
    const message = {
      key: binary(key),
      value: binary(value),
      ...(partition === null ? {} : { partition }),
      ...(headers === undefined ? {} : { headers: headersByName(headers) }),
    }
    const [written] = await this.producer.send({ topic, messages: [message] })
    return { partition: written.partition, offset: Number(written.baseOffset) }
  }

  flush({ timeout_ms: timeout }) {
    return this.producer.flush({ timeout })
  }

  async begin() {
    await this.producer.transaction()
  }

  async sendOffsets({ offsets, consumer }) {
    const topics = offsets.map(([topic, partition, offset]) => ({ topic, partitions: [{ partition, offset: String(offset) }] }))
    await this.producer.sendOffsets({ consumer: handle(consumer).consumer, topics })
  }

  commitTransaction() {
    return this.producer.commit()
  }

  abortTransaction() {
    return this.producer.abort()
  }

  close() {
    return this.producer.disconnect()
  }
}

const BEGINNING = -2
const SEEK_MS = 5000

async function offsets(admin, topic, partition, options) {
  return (await admin.fetchTopicOffsets(topic, options)).find((each) => each.partition === partition)
}

// `eachBatch` offers a batch, and waits until a poll takes it: before that nothing of it counts as consumed. It ends
// with the next poll: until then the application does something with the batch, and the group can't rebalance. An
// application that takes longer than MOST_HELD_MS holds up nobody else.
const MOST_HELD_MS = 3000

class Consumer {
  static settings = Object.keys(CONSUMES)
  #offers = new Set()
  #held = []
  #woken = () => {}
  #closing = false

  constructor(name, { config: given }) {
    const { READ_COMMITTED, READ_UNCOMMITTED } = IsolationLevel
    this.isolation = given['isolation.level'] === 'read_uncommitted' ? READ_UNCOMMITTED : READ_COMMITTED
    const without = given['group.protocol'] === 'consumer' ? CLASSIC : []
    const own = configured(given, CONSUMES, without)
    if (own['auto.offset.reset'] === 'none') own['auto.offset.reset'] = 'error'
    this.consumer = new KafkaJS.Kafka().consumer({
      ...own,
      rebalance_cb: (error, assignment, { assignmentLost }) => {
        const partitions = assignment.map(({ topic, partition }) => [topic, partition])
        const gone = assignmentLost() ? 'lost' : 'revoked'
        event(name, error.code === ERRORS.ERR__ASSIGN_PARTITIONS ? 'assigned' : gone, { partitions })
      },
    })
  }

  start() {
    return this.consumer.connect()
  }

  async subscribe({ topics }) {
    await this.consumer.subscribe({ topics: topics.map((each) => (each.startsWith('^') ? new RegExp(each) : each)) })
    await this.consumer.run({ eachBatchAutoResolve: false, eachBatch: (payload) => this.#offer(payload) })
  }

  async #offer({ batch, resolveOffset, isStale }) {
    const offer = { batch, resolveOffset, isCurrent: () => !this.#closing && !isStale() }
    const decided = new Promise((resolve) => (offer.decide = resolve))
    this.#offers.add(offer)
    this.#woken()
    await decided
    this.#offers.delete(offer)
    if (offer.taken) await sleepUntil(offer.done, MOST_HELD_MS)
  }

  async poll({ timeout_ms }) {
    for (const finish of this.#held.splice(0)) finish()
    const woken = new Promise((resolve) => (this.#woken = resolve))
    let batches = this.#take()
    if (!batches.length) {
      await sleepUntil(woken, timeout_ms)
      batches = this.#take()
    }
    return {
      records: batches.flatMap(({ topic, partition, messages }) =>
        messages.map(({ offset, key, value, headers }) =>
          record(topic, partition, offset, key, value, headersInOrder(headers)))),
    }
  }

  #take() {
    this.#release()
    const taken = [...this.#offers].filter((offer) => !offer.taken)
    for (const offer of taken) {
      offer.taken = true
      offer.done = new Promise((resolve) => this.#held.push(resolve))
      const last = offer.batch.messages.at(-1)
      offer.resolveOffset(last.offset, last.leaderEpoch)
      offer.decide()
    }
    return taken.map(({ batch }) => batch)
  }

  // Lets go of offers that no poll may take.
  #release() {
    for (const offer of this.#offers) if (!offer.isCurrent()) offer.decide()
  }

  async commit({ offsets }) {
    await this.consumer.commitOffsets(
      offsets?.map(([topic, partition, offset]) => ({ topic, partition, offset: String(offset) })))
  }

  async committed({ partitions, timeout_ms }) {
    const found = await this.consumer.committed(partitions.map(([topic, partition]) => ({ topic, partition })), timeout_ms)
    return {
      offsets: found.map(({ topic, partition, offset }) => [topic, partition, offset >= 0 ? Number(offset) : null]),
    }
  }

  // "offset can be a positive number (in a string), or be '-2' representing the 'earliest' offset available on the
  // broker": where a partition ends is asked of an admin.
  async seek({ topic, partition, offset, to, timeout_ms }) {
    const at = to === 'end' ? await this.#end(topic, partition, timeout_ms) : String(offset ?? BEGINNING)
    this.consumer.seek({ topic, partition, offset: at })
    this.#release()
  }

  async #end(topic, partition, timeout = SEEK_MS) {
    const admin = this.consumer.dependentAdmin()
    await admin.connect()
    try {
      return (await offsets(admin, topic, partition, { timeout, isolationLevel: this.isolation })).high
    } finally {
      await admin.disconnect()
    }
  }

  async pause({ partitions }) {
    this.consumer.pause(partitions.map(([topic, partition]) => ({ topic, partitions: [partition] })))
    this.#release()
  }

  async resume({ partitions }) {
    this.consumer.resume(partitions.map(([topic, partition]) => ({ topic, partitions: [partition] })))
  }

  async close() {
    this.#closing = true
    this.#release()
    for (const finish of this.#held.splice(0)) finish()
    await this.consumer.disconnect()
  }
}

class Admin {
  static settings = Object.keys(COMMON)

  constructor(name, { config: given }) {
    this.admin = new KafkaJS.Kafka().admin(configured(given, COMMON))
  }

  start() {
    return this.admin.connect()
  }

  async createTopic({ topic, partitions, replication_factor, timeout_ms: timeout }) {
    const topics = [{ topic, numPartitions: partitions, replicationFactor: replication_factor }]
    await this.admin.createTopics({ topics, timeout })
  }

  async deleteTopic({ topic, timeout_ms: timeout }) {
    await this.admin.deleteTopics({ topics: [topic], timeout })
  }

  async deleteRecords({ topic, partition, offset, timeout_ms: timeout }) {
    const partitions = [{ partition, offset: String(offset) }]
    const [{ lowWatermark }] = await this.admin.deleteTopicRecords({ topic, partitions, timeout })
    return { offset: lowWatermark }
  }

  async listOffsets({ topic, partition, at, timeout_ms: timeout }) {
    const isolationLevel = IsolationLevel.READ_UNCOMMITTED
    const found = await offsets(this.admin, topic, partition, { timeout, isolationLevel })
    return { offset: Number(at === 'latest' ? found.high : found.low) }
  }

  close() {
    return this.admin.disconnect()
  }
}

await serve({
  client: `@confluentinc/kafka-javascript ${version('@confluentinc/kafka-javascript')} (librdkafka ${librdkafkaVersion})`,
  capabilities: [
    'groups', 'idempotence', 'transactions', 'send-offsets', 'consumer-protocol', 'pause', 'patterns', 'at-once',
    'ends-at-once', 'commit-at-once', 'headers', 'seek', 'admin', 'delete-topic', 'delete-records', 'list-offsets',
    ...taking('compression.type', ['gzip', 'snappy', 'lz4']),
    ...taking('partition.assignment.strategy', ['range', 'roundrobin', 'cooperative-sticky']),
  ],
  kinds: { producer: Producer, consumer: Consumer, admin: Admin },
  described,
})
