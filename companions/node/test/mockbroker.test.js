import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { test } from 'node:test'
import { MockBrokerError, start, withCluster } from '../index.js'
import { read, start as startProcess } from '../process.js'

test('records are there, and the cluster is gone once it is closed', async () => {
  const cluster = await start({ kafka: '3.9', brokers: 2, topics: { orders: 1 } })
  await cluster.produce('orders', 'order 1', { key: 'a' })
  const [record] = await cluster.records('orders')
  assert.deepEqual([record.value, record.key, record.offset], ['order 1', 'a', 0])
  assert.equal((await cluster.stopBroker(2)).id, 2)
  await cluster.close()
  await assert.rejects(cluster.hints(), /a cluster is gone/)
})

test('a fault that never fired fails the test', async () => {
  const never = (fault, then = () => {}) =>
    withCluster({ brokers: 1 }, async (cluster) => then(await cluster.addFault(fault)))
  await assert.rejects(never({ do: 'disconnect', api: 'Produce', nth: 3 }), /never fired: no client sent anything/)
  await assert.rejects(
    never({ do: 'disconnect', api: 'Produce', name: 'lost' }, (fault) => fault.remove()),
    /fault lost never fired/
  )
  await never({ do: 'disconnect', api: 'Produce', nthOnConnection: 1, optional: true })
})

test('an error of the test comes first', async () => {
  const failing = withCluster({ brokers: 1 }, async (cluster) => {
    await cluster.addFault({ do: 'disconnect', api: 'Produce' })
    throw new TypeError('one order is missing')
  })
  await assert.rejects(failing, { name: 'TypeError', message: /one order is missing/ })
})

test('a failed test tells what happened last', async () => {
  const failing = withCluster({ topics: { orders: 1 } }, async (cluster) => {
    await cluster.produce('orders', 'order 1')
    throw new Error('one order is missing')
  })
  await assert.rejects(failing, /^Error: one order is missing\n.*the last that happened:\n.* orders-0: high watermark 1, /s)
})

test('mistakes are told in the words of mockbroker', async () => {
  await assert.rejects(start({ policies: { 'undefined-epok': 'undefined' } }), /undefined-epoch/)
  await assert.rejects(start({ broker: 1 }), MockBrokerError)
  await withCluster({ brokers: 1 }, async (cluster) => {
    await assert.rejects(cluster.stopBroker(9), MockBrokerError)
    await assert.rejects(cluster.addFault({ do: 'disconect' }), /disconnect/)
  })
})

test('another contract is refused', () => {
  assert.throws(() => read('{"contract": 0, "version": "9"}'), /too old for this package/)
  assert.throws(() => read('{"contract": 2, "version": "9"}'), /too new for this package/)
})

test('a process that is missing or does not start is told', async () => {
  await assert.rejects(startProcess('mockbroker-that-is-not-there'), /pip install mockbroker/)
  const path = join(await mkdtemp(join(tmpdir(), 'mockbroker-')), 'mockbroker')
  await writeFile(path, '#!/bin/sh\necho no port is free >&2\nexit 2\n')
  await chmod(path, 0o700)
  await assert.rejects(startProcess(path), /did not start: no port is free/)
})

test('many clusters at once', async () => {
  const names = Array.from({ length: 10 }, (_, at) => `topic-${at}`)
  const found = names.map((topic) =>
    withCluster({ brokers: 1, topics: { [topic]: 1 } }, async (cluster) => {
      await cluster.produce(topic, topic)
      return (await cluster.records(topic)).map((record) => record.value)
    })
  )
  assert.deepEqual(await Promise.all(found), names.map((each) => [each]))
})

const program = (lines) => {
  const source = `import { start } from ${JSON.stringify(new URL('../index.js', import.meta.url))}\n${lines}`
  return spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: ['ignore', 'pipe', 'inherit'] })
}

test('nothing is left of a process that was killed', async () => {
  const child = program('console.log((await start()).controlUrl); setInterval(() => {}, 1000)')
  const [url] = await once(createInterface(child.stdout), 'line')
  child.kill('SIGKILL')
  const deadline = Date.now() + 20_000
  const serves = () => fetch(url).then(() => true, () => false)
  while (await serves()) {
    assert.ok(Date.now() < deadline, 'mockbroker still serves')
    await setTimeout(20)
  }
})

test('a cluster that nobody closes does not keep Node from ending', async () => {
  const child = program('await start()')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})
