// Driver: kafkajs, of the package kafkajs

// KafkaJS. It can't be assigned partitions, and tells no positions.

import kafkajs from 'kafkajs'
import snappy from 'kafkajs-snappy'
import lz4 from 'lz4-napi'
import {
  Owned, SECURITY, Sends, binary, config, event, handle, headersByName, headersInOrder, record, security, serve, settings,
  sleepUntil, taking, version,
} from './lines.js'

const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = kafkajs
CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: (encoder) => lz4.compressFrame(encoder.buffer),
  decompress: (buffer) => lz4.decompressFrame(buffer),
})
const CODECS = { none: 'None', gzip: 'GZIP', snappy: 'Snappy', lz4: 'LZ4' }

function described(error) {
  const found = withCode(error)
  return {
    name: error.name,
    message: [error, ...causes(error)].map(({ name, message }) => `${name}: ${message}`).join('; caused by '),
    code: found?.code ?? null,
    retriable: error.retriable ?? null,
    fatal: error.ended ?? null,
  }
}

const causes = (error) => [...(error.cause ? [error.cause] : []), ...(error.errors ?? [])]

// Kafka's codes are numbers; those of sockets are texts.
function withCode(error) {
  if (Number.isInteger(error.code) && error.code > 0) return error
  return causes(error).map(withCode).find((each) => each !== undefined)
}

const REQUESTS = { requestTimeout: 'request.timeout.ms' }
const RETRIES = { initialRetryTime: 'retry.backoff.ms' }
const COMMON = settings(['bootstrap.servers', 'client.id'], SECURITY, REQUESTS, RETRIES)
const PRODUCES = {
  idempotent: 'enable.idempotence',
  maxInFlightRequests: 'max.in.flight.requests.per.connection',
  transactionalId: 'transactional.id',
  transactionTimeout: 'transaction.timeout.ms',
}
const CONSUMES = {
  sessionTimeout: 'session.timeout.ms',
  heartbeatInterval: 'heartbeat.interval.ms',
  rebalanceTimeout: 'max.poll.interval.ms',
  maxWaitTimeInMs: 'fetch.max.wait.ms',
  maxBytesPerPartition: 'max.partition.fetch.bytes',
}

const brief = () => ({ namespace, log }) => console.error(namespace, log.message, log.error ?? '')
const LOGS = 'MOCKBROKER_DRIVER_LOGS' in process.env ? {} : { logLevel: logLevel.WARN, logCreator: brief }

function connected(given) {
  const { tls: ssl, sasl, token } = security(given)
  if (token) sasl.oauthBearerProvider = async () => ({ value: token() })
  return new Kafka({
    clientId: given['client.id'],
    brokers: given['bootstrap.servers'].split(','),
    ...(ssl ? { ssl } : {}),
    // Its ten seconds are longer than the sessions of experiments: it would log in before each request.
    ...(sasl ? { reauthenticationThreshold: 500 } : {}),
    ...(sasl ? { sasl: { ...sasl, mechanism: sasl.mechanism.toLowerCase() } } : {}),
    ...LOGS,
    ...config(given, REQUESTS),
    retry: config(given, RETRIES),
  })
}

const ACKS = { all: -1 }

class Producer {
  static settings = settings(COMMON, ['acks', 'compression.type'], PRODUCES)
  #sends = new Sends()
  #transaction
  #over = false

  constructor(name, { config: given }) {
    // As its documentation has it for exactly once.
    const transactional = 'transactional.id' in given ? { idempotent: true, maxInFlightRequests: 1 } : {}
    this.acks = ACKS[given.acks] ?? (given.acks === undefined ? undefined : Number(given.acks))
    this.compression = CompressionTypes[CODECS[given['compression.type'] ?? 'none']]
    this.producer = connected(given).producer({
      ...transactional,
      ...config(given, PRODUCES),
    })
  }

  // The transactional id is initialized by the first `begin`.
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
    const sender = this.#transaction ?? this.producer
    const sent = sender.send({ topic, messages: [message], acks: this.acks, compression: this.compression })
    const [written] = await this.#sends.add(sent)
    return { partition: written?.partition ?? null, offset: written === undefined ? null : Number(written.baseOffset) }
  }

  flush() {
    return this.#sends.settled()
  }

  async begin() {
    this.#sends.forget()
    if (this.#over) this.#transaction = undefined
    this.#transaction = await this.producer.transaction()
    this.#over = false
  }

  async sendOffsets({ offsets, consumer }) {
    await this.#transaction.sendOffsets({ consumerGroupId: handle(consumer).group, topics: byTopic(offsets) })
  }

  async commitTransaction() {
    const transaction = this.#transaction
    await this.#sends.settled()
    if (this.#sends.failed) throw this.#sends.failed
    await transaction.commit()
    this.#ended(transaction)
  }

  // An application that was given no transaction has none to abort.
  async abortTransaction() {
    const transaction = this.#transaction
    await this.#sends.settled()
    await transaction?.abort()
    this.#ended(transaction)
  }

  // It is kept until another one is to begin: an application may try to end it once more.
  #ended(transaction) {
    if (this.#transaction === transaction) this.#over = true
  }

  close() {
    return this.producer.disconnect()
  }
}

function byTopic(offsets) {
  const topics = new Map()
  for (const [topic, partition, offset] of offsets) {
    if (!topics.has(topic)) topics.set(topic, [])
    topics.get(topic).push({ partition, offset: String(offset) })
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }))
}

// `eachBatch` offers a batch, and waits until a poll takes it: before that nothing of it counts as consumed. It ends
// with the next poll: until then the application does something with the batch, and the group can't rebalance. An
// application that takes longer than MOST_HELD_MS holds up nobody else.
const MOST_HELD_MS = 3000
const ENDS = { beginning: -2, end: -1 }

class Consumer {
  static settings = settings(
    COMMON, ['group.id', 'enable.auto.commit', 'auto.offset.reset', 'isolation.level'], CONSUMES)
  #offers = new Set()
  #done = []
  #positions = new Map()
  #woken = () => {}
  #closing = false
  #crashed
  #joined

  constructor(name, { config: given }) {
    this.name = name
    this.group = given['group.id']
    this.kafka = connected(given)
    this.autoCommit = given['enable.auto.commit'] ?? true
    this.fromBeginning = given['auto.offset.reset'] === 'earliest'
    this.heartbeatInterval = given['heartbeat.interval.ms'] ?? 3000
    const isolation = given['isolation.level']
    this.consumer = this.kafka.consumer({
      groupId: this.group,
      ...config(given, CONSUMES),
      ...(isolation === undefined ? {} : { readUncommitted: isolation === 'read_uncommitted' }),
    })
    const { GROUP_JOIN, REBALANCING, CRASH } = this.consumer.events
    const owned = new Owned(name)
    this.consumer.on(GROUP_JOIN, ({ payload: { memberAssignment } }) => {
      owned.assigned(
        Object.entries(memberAssignment).flatMap(([topic, partitions]) => partitions.map((each) => [topic, each])))
      this.#positions.clear()
    })
    this.consumer.on(REBALANCING, () => owned.gone('revoked'))
    this.consumer.on(CRASH, ({ payload: { error, restart } }) => {
      error.ended = !restart // it won't go on by itself, an application needs another consumer
      event(name, 'error', { error: described(error) })
      if (error.ended) this.#crashed = error
      this.#woken()
    })
  }

  start() {
    return this.consumer.connect()
  }

  async subscribe({ topics }) {
    await this.consumer.subscribe({ topics, fromBeginning: this.fromBeginning })
    this.#joined = this.consumer
      .run({ autoCommit: this.autoCommit, eachBatchAutoResolve: false, eachBatch: (payload) => this.#offer(payload) })
      .catch((error) => event(this.name, 'error', { error: described(error) }))
  }

  async #offer({ batch, resolveOffset, heartbeat, isRunning, isStale }) {
    const offer = { batch, taken: false, isCurrent: () => !this.#closing && isRunning() && !isStale() }
    const decided = new Promise((resolve) => (offer.decide = resolve))
    this.#offers.add(offer)
    this.#woken()
    try {
      while (!offer.taken && offer.isCurrent()) {
        await sleepUntil(decided, this.heartbeatInterval)
        if (!offer.taken && offer.isCurrent()) await heartbeat()
      }
    } finally {
      this.#offers.delete(offer)
      if (offer.taken) resolveOffset(batch.messages.at(-1).offset)
    }
    if (!offer.taken || this.#closing) return
    const done = new Promise((resolve) => this.#done.push(() => resolve(offer.done = true)))
    const end = Date.now() + MOST_HELD_MS
    while (!offer.done && Date.now() < end) {
      await sleepUntil(done, Math.min(this.heartbeatInterval, MOST_HELD_MS))
      if (!offer.done) await heartbeat().catch(() => {}) // it says so too when the batch has ended
    }
  }

  async poll({ timeout_ms }) {
    this.#finish()
    const woken = new Promise((resolve) => (this.#woken = resolve))
    let batches = this.#take()
    if (!batches.length && !this.#crashed) {
      await sleepUntil(woken, timeout_ms)
      batches = this.#take()
    }
    if (!batches.length && this.#crashed) throw this.#crashed
    const records = batches.flatMap(({ topic, partition, messages }) =>
      messages.map(({ offset, key, value, headers }) => record(topic, partition, offset, key, value, headersInOrder(headers))))
    for (const { topic, partition, offset } of records) this.#moved(topic, partition, offset + 1)
    return { records }
  }

  #take() {
    const taken = [...this.#offers].filter((offer) => !offer.taken && offer.isCurrent())
    for (const offer of taken) {
      offer.taken = true
      offer.decide()
    }
    return taken.map(({ batch }) => batch)
  }

  #finish() {
    for (const done of this.#done.splice(0)) done()
  }

  async commit({ offsets }) {
    const given = offsets ?? [...this.#positions.values()]
    await this.consumer.commitOffsets(
      given.map(([topic, partition, offset]) => ({ topic, partition, offset: String(offset) })))
  }

  async committed({ partitions }) {
    this.admin ??= this.kafka.admin()
    await this.admin.connect()
    const topics = [...new Set(partitions.map(([topic]) => topic))]
    const found = await this.admin.fetchOffsets({ groupId: this.group, topics })
    const of = ([topic, partition]) =>
      found.find((each) => each.topic === topic)?.partitions.find((each) => each.partition === partition)?.offset
    return { offsets: partitions.map((each) => [...each, Number(of(each) ?? -1) < 0 ? null : Number(of(each))]) }
  }

  async seek({ topic, partition, offset, to }) {
    this.consumer.seek({ topic, partition, offset: String(offset ?? ENDS[to]) })
    if (offset === undefined) this.#positions.delete(`${topic} ${partition}`)
    else this.#moved(topic, partition, offset)
    this.#release()
  }

  async pause({ partitions }) {
    this.consumer.pause(partitions.map(([topic, partition]) => ({ topic, partitions: [partition] })))
  }

  async resume({ partitions }) {
    this.consumer.resume(partitions.map(([topic, partition]) => ({ topic, partitions: [partition] })))
  }

  #moved(topic, partition, offset) {
    this.#positions.set(`${topic} ${partition}`, [topic, partition, offset])
  }

  async close({ timeout_ms }) {
    this.#closing = true
    this.#release()
    this.#finish()
    // A consumer that is disconnected while it joins goes on for ever: KafkaJS issue 1639.
    await sleepUntil(this.#joined, timeout_ms)
    await this.admin?.disconnect()
    await this.consumer.disconnect()
  }

  // Lets go of offers that no poll may take.
  #release() {
    for (const offer of this.#offers) if (!offer.isCurrent()) offer.decide()
  }
}

class Admin {
  static settings = COMMON

  constructor(name, { config: given }) {
    this.admin = connected(given).admin()
  }

  start() {
    return this.admin.connect()
  }

  async createTopic({ topic, partitions, replication_factor }) {
    await this.admin.createTopics({
      waitForLeaders: true,
      topics: [{ topic, numPartitions: partitions, replicationFactor: replication_factor }],
    })
  }

  async createPartitions({ topic, partitions }) {
    await this.admin.createPartitions({ topicPartitions: [{ topic, count: partitions }] })
  }

  async deleteTopic({ topic }) {
    await this.admin.deleteTopics({ topics: [topic] })
  }

  async alterConfig({ topic, name, to }) {
    const resource = { type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name, value: to }] }
    await this.admin.alterConfigs({ validateOnly: false, resources: [resource] })
  }

  async describeConfig({ topic, name }) {
    const resource = { type: ConfigResourceTypes.TOPIC, name: topic, configNames: [name] }
    const { resources } = await this.admin.describeConfigs({ includeSynonyms: false, resources: [resource] })
    return { value: resources[0].configEntries[0].configValue }
  }

  // It returns nothing.
  async deleteRecords({ topic, partition, offset }) {
    await this.admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] })
  }

  async listOffsets({ topic, partition, at }) {
    const found = (await this.admin.fetchTopicOffsets(topic)).find((each) => each.partition === partition)
    return { offset: Number(at === 'latest' ? found.high : found.low) }
  }

  close() {
    return this.admin.disconnect()
  }
}

await serve({
  client: `KafkaJS ${version('kafkajs')}`,
  capabilities: [
    'groups', 'idempotence', 'transactions', 'send-offsets', 'admin', 'create-partitions', 'at-once', 'ends-at-once',
    'commit-at-once', 'delete-topic', 'alter-config', 'describe-config', 'delete-records', 'list-offsets', 'headers', 'seek', ...taking('compression.type', ['gzip', 'snappy', 'lz4']),
  ],
  kinds: { producer: Producer, consumer: Consumer, admin: Admin },
  described,
})
