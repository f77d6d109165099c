// The scenario with kafkajs; one event a line, as JSON, on stdout.
// One argument: {bootstrap, partitions, records, extra, part, batch, timeout, filler, plans}

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = require('kafkajs')
const snappy = require('kafkajs-snappy')
const lz4 = require('lz4-napi')

CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: (encoder) => lz4.compressFrame(encoder.buffer),
  decompress: (buffer) => lz4.decompressFrame(buffer),
})
const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
}

const { bootstrap, partitions, records, extra, part, batch, timeout, filler, plans } = JSON.parse(process.argv[2])
const kafka = new Kafka({
  clientId: 'kafkajs',
  brokers: bootstrap.split(','),
  logLevel: logLevel.WARN,
  logCreator: () => ({ namespace, log }) => console.error(namespace, JSON.stringify(log)),
})

const emit = (event, fields = {}) => console.log(JSON.stringify({ event, ...fields }))
const fail = (error) => {
  console.error(error)
  process.exit(1)
}
const pad = (i) => String(i).padStart(5, '0')
const key = (i) => `key-${pad(i)}`
const value = (i) => `value-${pad(i)}-${filler}`

function index(message) {
  const i = Number(message.key.toString().slice(4))
  if (message.key.toString() !== key(i) || message.value.toString() !== value(i)) {
    fail(`wrong record: ${message.key} ${message.value}`)
  }
  return i
}

class Member {
  constructor(run, name) {
    Object.assign(this, { run, name, assigned: [], positions: new Map() })
    this.consumer = kafka.consumer({
      groupId: run.group,
      heartbeatInterval: 200,
      maxWaitTimeInMs: 100,
      maxBytesPerPartition: 1, // one record batch a time
    })
    this.consumer.on(this.consumer.events.GROUP_JOIN, ({ payload }) => {
      if (this.leaving) return // the other one has left just before
      this.assigned = [...(payload.memberAssignment[run.topic] ?? [])].sort()
      emit('assigned', { member: name, partitions: this.assigned })
      run.changed()
    })
    this.consumer.on(this.consumer.events.CRASH, ({ payload }) => fail(payload.error))
  }

  async start() {
    await this.consumer.connect()
    await this.consumer.subscribe({ topic: this.run.topic, fromBeginning: true })
    await this.consumer.run({
      eachBatch: async ({ batch: { partition, messages }, pause }) => {
        const values = messages.map(index)
        const offsets = messages.map(({ offset }) => Number(offset))
        emit('records', { member: this.name, partition, offsets, values })
        this.positions.set(partition, offsets.at(-1) + 1)
        this.run.read(values)
        if (this.run.held === this.name) pause()
      },
    })
  }

  release() {
    this.consumer.resume([{ topic: this.run.topic }])
  }

  commit() {
    const mine = [...this.positions].filter(([partition]) => this.assigned.includes(partition))
    const topic = this.run.topic
    return this.consumer.commitOffsets(mine.map(([partition, offset]) => ({ topic, partition, offset: `${offset}` })))
  }
}

class Run {
  constructor(plan) {
    Object.assign(this, plan, { members: new Map(), seen: new Set(), extra: new Set(), waiting: [] })
    emit('plan', plan)
  }

  changed() {
    this.waiting = this.waiting.filter(({ done, go }) => !done() || go())
  }

  until(what, done) {
    const late = setTimeout(() => fail(`no progress: ${what}, ${this.seen.size} + ${this.extra.size}`), timeout * 1000)
    return new Promise((resolve) => {
      this.waiting.push({ done, go: () => { clearTimeout(late); resolve() } })
      this.changed()
    })
  }

  read(values) {
    for (const i of values) (i < records ? this.seen : this.extra).add(i)
    if (this.held === undefined && this.seen.size >= part) this.held = 'a'
    this.changed()
  }

  split() {
    const all = [...this.members.values()].map(({ assigned }) => assigned)
    return all.every((mine) => mine.length > 0) && new Set(all.flat()).size === partitions && all.flat().length === partitions
  }

  async produce(from, to) {
    const producer = kafka.producer({ idempotent: this.idempotent, maxInFlightRequests: 1 })
    await producer.connect()
    for (let first = from; first < to; first += batch * partitions) {
      const messages = []
      for (let i = first; i < Math.min(first + batch * partitions, to); i++) {
        messages.push({ key: key(i), value: value(i), partition: i % partitions })
      }
      await producer.send({ topic: this.topic, messages, acks: -1, compression: CODECS[this.codec] })
    }
    await producer.disconnect()
  }

  join(name) {
    emit('joining', { member: name })
    this.members.set(name, new Member(this, name))
    return this.members.get(name).start()
  }

  async leave() {
    for (const member of this.members.values()) member.leaving = true
    for (const { consumer } of this.members.values()) await consumer.disconnect()
    this.members.clear()
  }

  async steps(admin) {
    const { topic } = this
    await admin.createTopics({
      waitForLeaders: true,
      topics: [{ topic, numPartitions: partitions, replicationFactor: 3 }],
    })
    await this.produce(0, records)
    emit('produced', { count: records })
    await this.join('a')
    await this.until('first part', () => this.held)
    await this.join('b')
    await this.until('split', () => this.split())
    this.held = 'none'
    this.members.get('a').release()
    await this.until('all', () => this.seen.size === records)
    for (const member of this.members.values()) await member.commit()
    const [committed] = await admin.fetchOffsets({ groupId: this.group, topics: [topic] })
    emit('committed', {
      offsets: Object.fromEntries(committed.partitions.map(({ partition, offset }) => [partition, Number(offset)])),
    })
    await this.leave()
    await this.produce(records, records + extra)
    emit('restarted')
    await this.join('a2')
    await this.until('extra', () => this.extra.size === extra)
    for (const member of this.members.values()) await member.commit()
    await this.leave()
    emit('done')
  }
}

async function main() {
  const admin = kafka.admin()
  await admin.connect()
  for (const plan of plans) await new Run(plan).steps(admin)
  await admin.disconnect()
}

main().catch(fail)
