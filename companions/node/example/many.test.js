// Each test has a cluster, and finds in it what it wrote, and nothing else. MANY says how many there are, AT_ONCE how
// many at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import kafkajs from 'kafkajs'
import { start } from '../index.js'

const { Kafka, logLevel } = kafkajs
const many = Number(process.env.MANY || 40)
const ready = []

test('many', { concurrency: Number(process.env.AT_ONCE || 8) }, async (t) => {
  const orders = Array.from({ length: many }, (_, at) => `order ${at}`)
  await Promise.all(orders.map((order) => t.test(order, () => writes(order))))
  console.log(`ready after, in ms: ${ready.map((each) => each.toFixed(1)).join(' ')}`)
})

async function writes(order) {
  const began = performance.now()
  const cluster = await start({ topics: { orders: 1 } })
  ready.push(performance.now() - began)
  const brokers = cluster.bootstrapServers.split(',')
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer()
  await producer.connect()
  await producer.send({ topic: 'orders', messages: [{ value: order }] })
  await producer.disconnect()
  assert.deepEqual((await cluster.records('orders')).map((each) => each.value), [order])
  await cluster.close()
}
