// A Kafka cluster for each test.
import { createInterface } from 'node:readline'
import { controlUrl } from './process.js'
import { ask, MockBrokerError, open, refusal, text } from './requests.js'
import { VERBS } from './verbs.js'

export { MockBrokerError }

/** A cluster of your own, which is there until you close it, or this process ends. */
export async function start(options = {}) {
  const answer = await open('POST', `${await controlUrl()}/clusters`, { trace: 'requests', ...options })
  if (answer.statusCode !== 200) throw refusal(await text(answer))
  const lines = createInterface(answer)
  const line = await new Promise((resolve, reject) => {
    lines.once('line', resolve)
    answer.once('error', reject)
  })
  lines.on('line', () => {})
  // From now on it must not keep Node from ending.
  answer.socket.unref()
  return new Cluster(JSON.parse(line), answer)
}

/** Runs a test with a cluster of its own. It fails if one of its faults never fired; an error of the test comes first. */
export async function withCluster(options, test) {
  const cluster = await start(options)
  let result
  try {
    result = await test(cluster)
  } catch (error) {
    const hints = await cluster.hints().catch(() => [])
    const last = await cluster.ask('GET', '/trace/last').catch(() => [])
    const told = [...hints.map((each) => `mockbroker: ${each}`), ...(last.length ? ['the last that happened:', ...last] : [])]
    if (error instanceof Error && told.length) error.message += `\n${told.join('\n')}`
    await cluster.drop()
    throw error
  }
  await cluster.close()
  return result
}

class Cluster {
  #lease
  #faults = []
  #closed = false

  constructor(where, lease) {
    this.#lease = lease
    this.id = where.id
    this.bootstrapServers = where.bootstrap_servers
    this.controlUrl = where.control_url
    this.kafka = where.kafka
    this.brokers = where.brokers
    this.clusterId = where.cluster_id
  }

  async addFault(fault) {
    const added = new Fault(this, (await this.ask('POST', '/faults', snakes(fault))).name)
    this.#faults.push(added)
    return added
  }

  hints() {
    return this.ask('GET', '/hints')
  }

  async records(topic) {
    return (await this.ask('GET', place('/topics/{topic}/records', [topic]))).map(camels)
  }

  async committed(group) {
    return (await this.ask('GET', place('/groups/{group}/committed', [group]))).map(camels)
  }

  /** The last requests and answers, and what happened in the cluster. */
  trace() {
    return this.ask('GET', '/trace')
  }

  ask(method, path, values) {
    return ask(method, this.controlUrl + path, values)
  }

  /** Ends the cluster. MockBrokerError if a fault never fired. */
  async close() {
    if (this.#closed) return
    try {
      for (const fault of this.#faults) await fault.assertFired()
    } finally {
      await this.drop()
    }
  }

  /** Ends the cluster, whatever its faults did. */
  async drop() {
    if (this.#closed) return
    this.#closed = true
    await this.ask('DELETE', '').catch(() => {})
    this.#lease.destroy()
  }

  [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    return this.close()
  }
}

class Fault {
  #cluster
  #last

  constructor(cluster, name) {
    this.#cluster = cluster
    this.name = name
  }

  /** How many requests it has acted on. */
  async hits() {
    return (await this.#shown()).hits
  }

  /** Until it has acted on so many requests. */
  async wait(hits = 1, { timeout = 10 } = {}) {
    await this.#do('GET', '/wait', { hits, timeout })
  }

  async pause() {
    await this.#do('POST', '/pause')
  }

  async release() {
    await this.#do('POST', '/release')
  }

  async remove() {
    this.#last = await this.#shown()
    await this.#do('DELETE', '')
  }

  /** MockBrokerError if it never fired, unless it is optional. */
  async assertFired() {
    const { hits, optional, why } = await this.#shown()
    if (!hits && !optional) throw new MockBrokerError(`fault ${this.name} never fired: ${why}`)
  }

  async #shown() {
    return this.#last ?? (await this.#do('GET', ''))
  }

  #do(method, path, values) {
    return this.#cluster.ask(method, place('/faults/{name}', [this.name]) + path, values)
  }
}

for (const [name, { method, path, required }] of Object.entries(VERBS)) {
  const inPath = path.match(/{\w+}/g)?.length ?? 0
  Cluster.prototype[name] = async function (...given) {
    const values = Object.fromEntries(required.slice(inPath).map((each, at) => [each, given[inPath + at]]))
    return camels(await this.ask(method, place(path, given), { ...values, ...snakes(given[required.length] ?? {}) }))
  }
}

function place(path, values) {
  let at = 0
  return path.replace(/{\w+}/g, () => encodeURIComponent(values[at++]))
}

function snakes(fields) {
  const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snake(name), value]))
}

function camels(fields) {
  if (fields === null || typeof fields !== 'object' || Array.isArray(fields)) return fields
  const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [camel(name), value]))
}
