// Two producers write to a partition. The one that began first aborts last. A consumer reads committed records.

const { Kafka, logLevel } = require('kafkajs')

const kafka = new Kafka({ brokers: process.env.BOOTSTRAP_SERVERS.split(','), logLevel: logLevel.NOTHING })
const topic = 'orders'

async function begin(name) {
  const producer = kafka.producer({ transactionalId: name, idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  const transaction = await producer.transaction()
  await transaction.send({ topic, messages: [{ value: `aborted, of the ${name}` }] })
  return transaction
}

async function main() {
  const first = await begin('first')
  const second = await begin('second')
  await second.abort()
  await first.abort()
  const producer = kafka.producer()
  await producer.connect()
  await producer.send({ topic, messages: [{ value: 'the end' }] })

  const consumer = kafka.consumer({ groupId: 'billing', readUncommitted: false })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) => {
      console.log(`read: ${message.value}`)
      if (`${message.value}` === 'the end') setImmediate(() => process.exit(0))
    },
  })
}

main()
