// A consumer is disconnected while it joins a group that has another member. Then something is written.

const { Kafka, logLevel } = require('kafkajs')

const kafka = new Kafka({ brokers: process.env.BOOTSTRAP_SERVERS.split(','), logLevel: logLevel.NOTHING })
const topic = 'orders'
const read = []
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function start(name) {
  const consumer = kafka.consumer({ groupId: 'billing', sessionTimeout: 6_000, heartbeatInterval: 500 })
  const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve))
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  consumer.run({ eachMessage: async () => read.push(name) })
  return { consumer, joined }
}

async function main() {
  const first = await start('first')
  await first.joined
  const second = await start('second')
  await sleep(1_000)
  await second.consumer.disconnect()
  console.log('the second is disconnected')
  await sleep(12_000)
  const producer = kafka.producer()
  await producer.connect()
  await producer.send({ topic, messages: [{ partition: 0, value: '1' }, { partition: 1, value: '2' }] })
  while (read.length < 2) await sleep(100)
  console.log('12 s later there is a record for each of:', ...read.sort())
  process.exit(0)
}

main()
