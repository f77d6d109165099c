// What drivers for Node share: requests are read from one file descriptor, answers and events are written to
// another, one JSON object a line (docs/drivers.md).

import { readFileSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const REQUESTS = Number(process.env.MOCKBROKER_DRIVER_REQUESTS)
const ANSWERS = Number(process.env.MOCKBROKER_DRIVER_ANSWERS)
const METHODS = {
  'produce': 'produce',
  'flush': 'flush',
  'begin': 'begin',
  'send-offsets': 'sendOffsets',
  'commit-transaction': 'commitTransaction',
  'abort-transaction': 'abortTransaction',
  'subscribe': 'subscribe',
  'assign': 'assign',
  'poll': 'poll',
  'commit': 'commit',
  'committed': 'committed',
  'position': 'position',
  'seek': 'seek',
  'offsets-for-times': 'offsetsForTimes',
  'pause': 'pause',
  'resume': 'resume',
  'create-topic': 'createTopic',
  'create-partitions': 'createPartitions',
  'delete-topic': 'deleteTopic',
  'alter-config': 'alterConfig',
  'describe-config': 'describeConfig',
  'delete-records': 'deleteRecords',
  'list-offsets': 'listOffsets',
  'close': 'close',
}

const handles = new Map()

class UnsupportedError extends Error {}

class TimeoutError extends Error {
  name = 'TimeoutError'
}

function write(line) {
  let text = Buffer.from(JSON.stringify(line) + '\n')
  while (text.length) text = text.subarray(writeSync(ANSWERS, text))
}

export const event = (handle, name, fields) => write({ event: name, handle, ...fields })

export const handle = (name) => handles.get(name)

export const binary = (text) => (text == null ? null : Buffer.from(text, 'base64'))

// `headers` are pairs of a name and a value.
export const record = (topic, partition, offset, key, value, headers = []) => ({
  topic,
  partition,
  offset: Number(offset),
  key: text(key),
  value: text(value),
  ...(headers.length ? { headers: headers.map(([name, value]) => [name, text(value)]) } : {}),
})

const text = (bytes) => bytes?.toString('base64') ?? null

// KafkaJS, and what has its API, take headers as an object: several of one name are a list.
export function headersByName(headers) {
  const found = {}
  for (const [name, value] of headers) {
    const bytes = binary(value)
    found[name] = name in found ? [found[name], bytes].flat() : bytes
  }
  return found
}

export const headersInOrder = (headers) =>
  Object.entries(headers ?? {}).flatMap(([name, values]) => [values].flat().map((value) => [name, value]))

// Capabilities: the values that a driver takes of a setting.
export const taking = (setting, values) => values.map((value) => `${setting}=${value}`)

export const config = (given, names) =>
  Object.fromEntries(Object.entries(names).filter(([, name]) => name in given).map(([to, name]) => [to, given[name]]))

// The names of Kafka that objects of settings have as values.
export const settings = (...names) => names.flatMap((each) => (Array.isArray(each) ? each : Object.values(each)))

const FILES = { ca: 'ssl.ca.location', cert: 'ssl.certificate.location', key: 'ssl.key.location' }
const LOGIN = { mechanism: 'sasl.mechanism', username: 'sasl.username', password: 'sasl.password' }
const CLAIMS = 'sasl.oauthbearer.config'
const UNSECURED = 'enable.sasl.oauthbearer.unsecure.jwt'
export const SECURITY = ['security.protocol', ...Object.values(FILES), ...Object.values(LOGIN), CLAIMS, UNSECURED]

// An unsecured token (RFC 7515, with the algorithm `none`), of whose claims librdkafka's setting tells two.
function unsecuredToken(claims) {
  const { principal, lifeSeconds = 3600 } = Object.fromEntries(claims.split(' ').map((each) => each.split('=')))
  const now = Math.floor(Date.now() / 1000)
  const parts = [{ alg: 'none' }, { sub: principal, iat: now, exp: now + Number(lifeSeconds) }]
  return [...parts.map((each) => Buffer.from(JSON.stringify(each)).toString('base64url')), ''].join('.')
}

// What both clients take for TLS and for a login; undefined without it. With OAUTHBEARER, `token` makes one.
export function security(given) {
  const protocol = given['security.protocol'] ?? 'PLAINTEXT'
  const files = Object.entries(config(given, FILES)).map(([name, path]) => [name, readFileSync(path, 'utf8')])
  return {
    tls: protocol.endsWith('SSL') ? Object.fromEntries(files) : undefined,
    sasl: protocol.startsWith('SASL') ? config(given, LOGIN) : undefined,
    token: given[CLAIMS] && (() => unsecuredToken(given[CLAIMS])),
  }
}

const settingsOf = (kinds) =>
  Object.fromEntries(Object.entries(kinds).map(([kind, { settings }]) => [kind, settings]))

export const version = (name) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, pathToFileURL(process.argv[1])))).version

// The clients' calls take no timeouts: an application that won't wait longer does this.
export function limited(promise, timeoutMs, what) {
  if (timeoutMs === undefined) return promise
  let alarm
  const late = new Promise((_, reject) => {
    alarm = setTimeout(() => reject(new TimeoutError(`${what} is not done after ${timeoutMs} ms`)), timeoutMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(alarm))
}

export function sleepUntil(promise, limitMs) {
  let alarm
  const late = new Promise((resolve) => (alarm = setTimeout(resolve, limitMs)))
  return Promise.race([promise, late]).finally(() => clearTimeout(alarm))
}

// The partitions of a member, for clients that tell each assignment as a whole.
export class Owned {
  #partitions = []

  constructor(name) {
    this.name = name
  }

  assigned(partitions) {
    this.gone('lost') // it joined anew, and had not said that the group was rebalancing
    this.#partitions = partitions
    event(this.name, 'assigned', { partitions })
  }

  gone(how) {
    if (this.#partitions.length) event(this.name, how, { partitions: this.#partitions })
    this.#partitions = []
  }
}

// What a producer has sent: an application awaits it before it ends a transaction.
export class Sends {
  #open = new Set()
  #failed

  add(promise) {
    this.#open.add(promise)
    promise.catch((error) => (this.#failed ??= error)).finally(() => this.#open.delete(promise))
    return promise
  }

  async settled() {
    while (this.#open.size) await Promise.allSettled(this.#open)
  }

  // The first error since the last `forget`.
  get failed() {
    return this.#failed
  }

  forget() {
    this.#failed = undefined
  }
}

// `kinds` are classes of handles, which are made of a name and the fields of `open`, then started. Their methods are
// named in METHODS; they get the fields of a request.
export async function serve({ client, capabilities, kinds, described }) {
  const queues = new Map()
  write({ event: 'hello', protocol: 2, client, capabilities, settings: settingsOf(kinds) })
  // A read of node:fs waits in a thread, and the process does not end before that: nobody would hear of its end.
  const input = new Socket({ fd: REQUESTS, readable: true, writable: false })
  for await (const line of createInterface({ input })) {
    const call = JSON.parse(line)
    const before = queues.get(call.handle) ?? Promise.resolve()
    const made = before.then(() => {
      const done = make(call, kinds, described)
      return call.at_once ? undefined : done // calls that follow don't wait for it
    })
    queues.set(call.handle, made)
    if (call.do === 'close') queues.delete(call.handle)
  }
  process.exit(0) // whatever the client's sockets and timers do
}

async function make({ id, do: verb, handle: name, at_once: _, ...fields }, kinds, described) {
  const answer = (ok) => write({ id, ok: ok ?? {} })
  const fail = (error) =>
    write({
      id,
      error: error instanceof UnsupportedError ? { name: 'unsupported', message: error.message } : described(error),
    })
  try {
    if (verb === 'open') {
      const made = new kinds[fields.kind](name, fields)
      await limited(made.start(), fields.timeout_ms, verb)
      handles.set(name, made)
      return answer()
    }
    const made = handles.get(name)
    if (made?.[METHODS[verb]] === undefined) throw new UnsupportedError(`${name ?? 'nothing'} has no verb ${verb}`)
    if (verb === 'close') handles.delete(name)
    const done = made[METHODS[verb]](fields)
    if (verb === 'produce') done.then(answer, fail)
    else answer(await (verb === 'poll' ? done : limited(done, fields.timeout_ms, verb)))
  } catch (error) {
    fail(error)
  }
}
