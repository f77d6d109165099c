// Driver: platformatic-kafka, of the package @platformatic/kafka

// @platformatic/kafka. It can't be assigned partitions, can't seek in a stream, and tells no positions.

import { Admin as AdminClient, Consumer as Client, Producer as ProducingClient } from '@platformatic/kafka'
import {
  Owned, SECURITY, Sends, binary, config, event, handle, record, security, serve, settings, sleepUntil, version,
} from './lines.js'

const ACKS = { all: -1 }
const NO_COMMITTED = { earliest: 'earliest', latest: 'latest', none: 'fail' }
const ISOLATION = { read_uncommitted: 0, read_committed: 1 }

class BadPayloadError extends Error {
  name = 'BadPayloadError'
  deserializer = true
}

function described(error) {
  const all = [...chain(error)]
  const answered = all.find(({ apiCode }) => apiCode > 0)
  return {
    name: error.code ?? error.name,
    message: all.map(({ message }) => message).join('; caused by '),
    code: answered?.apiCode ?? null,
    retriable: error.canRetry ?? answered?.canRetry ?? null,
    fatal: error.ended || all.some(({ producerFenced }) => producerFenced) || null,
    deserializer: all.some(({ deserializer }) => deserializer),
  }
}

function * chain(error) {
  yield error
  for (const each of [...(error.errors ?? []), error.cause]) if (each) yield * chain(each)
}

const CONNECTS = { requestTimeout: 'request.timeout.ms', retryDelay: 'retry.backoff.ms' }
const COMMON = settings(['bootstrap.servers', 'client.id'], SECURITY, CONNECTS)
const PRODUCES = { idempotent: 'enable.idempotence', transactionalId: 'transactional.id' }
const CLASSIC = { heartbeatInterval: 'heartbeat.interval.ms' }
const CONSUMES = {
  groupId: 'group.id',
  groupInstanceId: 'group.instance.id',
  groupProtocol: 'group.protocol',
  autocommit: 'enable.auto.commit',
  // Only the classic protocol has it, but with either one a shorter rebalanceTimeout is refused.
  sessionTimeout: 'session.timeout.ms',
  rebalanceTimeout: 'max.poll.interval.ms',
  maxWaitTime: 'fetch.max.wait.ms',
}

// There is no such setting: an application takes from the stream as many as it wants.
const MOST = 'max.poll.records'

function connecting(given) {
  const { tls, sasl, token } = security(given)
  return {
    clientId: given['client.id'] ?? 'driver',
    bootstrapBrokers: given['bootstrap.servers'].split(','),
    ...(tls ? { tls } : {}),
    ...(sasl ? { sasl: { ...sasl, ...(token ? { token } : {}) } } : {}),
    ...config(given, CONNECTS),
  }
}

class Producer {
  static settings = settings(COMMON, ['acks'], PRODUCES)
  #sends = new Sends()
  #transaction
  #over = false

  constructor(name, { config: given }) {
    const acks = ACKS[given.acks] ?? (given.acks === undefined ? undefined : Number(given.acks))
    this.producer = new ProducingClient({
      ...connecting(given),
      ...('transactional.id' in given ? { idempotent: true } : {}),
      ...(acks === undefined ? {} : { acks }),
      ...config(given, PRODUCES),
    })
    this.producer.on('error', (error) => event(name, 'error', { error: described(error) }))
  }

  // It connects when it has something to send; the first `begin` initializes the transactional id.
  async start() {}

  async produce({ topic, partition, key, value }) {
    const message = { topic, key: binary(key) ?? undefined, value: binary(value) ?? undefined }
    if (partition !== null) message.partition = partition
    const sent = (this.#transaction ?? this.producer).send({ messages: [message] })
    const { offsets } = await this.#sends.add(sent)
    const [written] = offsets ?? []
    return { partition: written?.partition ?? null, offset: written === undefined ? null : Number(written.offset) }
  }

  flush() {
    return this.#sends.settled()
  }

  async begin() {
    this.#sends.forget()
    if (this.#over) this.#transaction = undefined
    this.#transaction = await this.producer.beginTransaction()
    this.#over = false
  }

  // Takes the last message that was processed of each partition.
  async sendOffsets({ offsets, consumer: name }) {
    const { consumer } = handle(name)
    const { groupId, memberId, generationId, coordinatorId } = consumer
    const metadata = { consumer: { groupId, memberId, generationId, coordinatorId } }
    await this.#transaction.addConsumer(consumer)
    for (const [topic, partition, offset] of offsets) {
      const made = { topic, partition, offset: BigInt(offset) - 1n, metadata }
      await this.#transaction.addOffset(handle(name).messageAt(topic, partition, offset - 1) ?? made)
    }
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
    return this.producer.close()
  }
}

class Consumer {
  static settings = settings(COMMON, ['auto.offset.reset', 'isolation.level', MOST], CONSUMES, CLASSIC)
  #stream
  #failed
  #bad = []
  #last = new Map()
  #woken = () => {}

  constructor(name, { config: given, fails_on: failsOn }) {
    this.name = name
    this.given = given
    const classic = given['group.protocol'] !== 'consumer'
    this.consumer = new Client({
      groupId: 'none',
      ...connecting(given),
      ...config(given, { ...CONSUMES, ...(classic ? CLASSIC : {}) }),
      ...('isolation.level' in given ? { isolationLevel: ISOLATION[given['isolation.level']] } : {}),
      deserializers: { value: (value) => this.#read(value, failsOn) },
    })
    const owned = new Owned(name)
    this.consumer.on('consumer:group:join', () => {
      const assigned = this.consumer.assignments ?? []
      owned.assigned(assigned.flatMap(({ topic, partitions }) => partitions.map((each) => [topic, each])))
      this.#last.clear()
    })
    this.consumer.on('consumer:group:rebalance', () => owned.gone('revoked'))
    this.consumer.on('error', (error) => event(name, 'error', { error: described(error) }))
  }

  async start() {}

  #read(value, failsOn) {
    if (failsOn && value?.toString('latin1').startsWith(Buffer.from(failsOn).toString('latin1'))) {
      throw new BadPayloadError(`can't read ${value}`)
    }
    return value
  }

  async subscribe({ topics }) {
    const reset = this.given['auto.offset.reset']
    this.#stream = await this.consumer.consume({
      topics,
      mode: 'committed',
      ...(reset === undefined ? {} : { fallbackMode: NO_COMMITTED[reset] }),
      onCorruptedMessage: (_, topic, partition) => {
        this.#bad.push(new BadPayloadError(`a value of ${topic}-${partition}`))
        this.#woken()
        return false // go on with the next
      },
    })
    this.#stream.on('readable', () => this.#woken())
    this.#stream.on('error', (error) => {
      error.ended = true // the stream is destroyed, an application needs another one
      this.#failed = error
      this.#woken()
    })
  }

  async poll({ timeout_ms }) {
    const woken = new Promise((resolve) => (this.#woken = resolve))
    let messages = this.#take()
    if (!messages.length && !this.#bad.length && !this.#failed) {
      await sleepUntil(woken, timeout_ms)
      messages = this.#take()
    }
    if (!messages.length && this.#failed) throw this.#failed
    for (const each of messages) this.#last.set(`${each.topic} ${each.partition}`, each)
    return {
      records: messages.map(({ topic, partition, offset, key, value }) => record(topic, partition, offset, key, value)),
      errors: this.#bad.splice(0).map(described),
    }
  }

  #take() {
    const messages = []
    const most = Number(this.given[MOST] ?? Infinity)
    while (messages.length < most) {
      const each = this.#stream?.read()
      if (!each) break
      messages.push(each)
    }
    return messages
  }

  messageAt(topic, partition, offset) {
    const last = this.#last.get(`${topic} ${partition}`)
    return last?.offset === BigInt(offset) ? last : undefined
  }

  async commit({ offsets }) {
    if (offsets === undefined) {
      for (const each of this.#last.values()) await each.commit()
      return
    }
    await this.consumer.commit({
      offsets: offsets.map(([topic, partition, offset]) => ({ topic, partition, offset: BigInt(offset), leaderEpoch: -1 })),
    })
  }

  async committed({ partitions }) {
    const topics = new Map()
    for (const [topic, partition] of partitions) topics.set(topic, [...(topics.get(topic) ?? []), partition])
    const found = await this.consumer.listCommittedOffsets({
      topics: [...topics].map(([topic, each]) => ({ topic, partitions: each })),
    })
    const of = ([topic, partition]) => Number(found.get(topic)?.[partition] ?? -1)
    return { offsets: partitions.map((each) => [...each, of(each) < 0 ? null : of(each)]) }
  }

  async close() {
    if (this.#stream && !this.#failed) await this.#stream.close()
    await this.consumer.close()
  }
}

class Admin {
  static settings = COMMON

  constructor(name, { config: given }) {
    this.admin = new AdminClient(connecting(given))
  }

  async start() {}

  async createTopic({ topic, partitions, replication_factor: replicas }) {
    await this.admin.createTopics({ topics: [topic], partitions, replicas })
  }

  async createPartitions({ topic, partitions }) {
    await this.admin.createPartitions({ topics: [{ name: topic, count: partitions }] })
  }

  close() {
    return this.admin.close()
  }
}

await serve({
  client: `@platformatic/kafka ${version('@platformatic/kafka')}`,
  capabilities: [
    'groups', 'idempotence', 'transactions', 'send-offsets', 'deserializer', 'consumer-protocol', 'admin',
    'create-partitions', 'at-once', 'ends-at-once', 'commit-at-once',
  ],
  kinds: { producer: Producer, consumer: Consumer, admin: Admin },
  described,
})
