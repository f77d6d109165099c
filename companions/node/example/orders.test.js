// An application that writes and reads with KafkaJS, while answers are lost and leaders move.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import kafkajs from 'kafkajs'
import { withCluster } from '../index.js'

const { Kafka, logLevel } = kafkajs
const topic = 'orders'
const clientOf = (cluster) =>
  new Kafka({ brokers: cluster.bootstrapServers.split(','), logLevel: logLevel.NOTHING, retry: { initialRetryTime: 20 } })

async function write(cluster, settings, ...values) {
  const producer = clientOf(cluster).producer(settings)
  await producer.connect()
  try {
    for (const value of values) await producer.send({ topic, messages: [{ value }] })
  } finally {
    await producer.disconnect()
  }
}

const written = async (cluster) => (await cluster.records(topic)).map((record) => record.value)

// The broker appends the record, and the connection is lost before its answer.
test('an order is written once if the answer is lost', () =>
  withCluster({ kafka: '3.9', topics: { orders: 1 } }, async (cluster) => {
    await cluster.addFault({ do: 'disconnect', api: 'Produce', when: 'after', nth: 1 })
    await write(cluster, { idempotent: true }, 'order 1')
    assert.deepEqual(await written(cluster), ['order 1'])
  }))

test('a producer that is not idempotent writes it twice', () =>
  withCluster({ topics: { orders: 1 } }, async (cluster) => {
    await cluster.addFault({ do: 'disconnect', api: 'Produce', when: 'after', nth: 1 })
    await write(cluster, {}, 'order 1')
    assert.deepEqual(await written(cluster), ['order 1', 'order 1'])
  }))

test('a group goes on where it committed', () =>
  withCluster({ topics: { orders: 1 } }, async (cluster) => {
    await cluster.produce(topic, 'order 1')
    const consumer = clientOf(cluster).consumer({ groupId: 'billing' })
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await new Promise((read) => consumer.run({ eachMessage: async () => read() }))
    await cluster.waitForGroup('billing', { state: 'Stable', members: 1, assigned: 1 })
    await consumer.disconnect()
    await cluster.waitForGroup('billing', { state: 'Empty' })
    assert.deepEqual((await cluster.committed('billing')).map((each) => each.offset), [1])
  }))
