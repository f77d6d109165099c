// Consumers seek to the end, or to the beginning, once they have read: the two negative offsets that `seek` takes.
const { Kafka, logLevel } = require('kafkajs')

const topic = 'orders'
const kafka = new Kafka({ brokers: process.env.BOOTSTRAP_SERVERS.split(','), logLevel: logLevel.NOTHING })
const producer = kafka.producer()
const send = (value) => producer.send({ topic, messages: [{ value }] })

async function until(condition, attempts = 50) {
  while (attempts-- && !condition()) await new Promise((done) => setTimeout(done, 200))
}

async function seek(where, offset, fromBeginning, autoCommit) {
  const consumer = kafka.consumer({ groupId: `${where}-${autoCommit}`, heartbeatInterval: 500 })
  let [read, joined] = [[], false]
  consumer.on('consumer.group_join', () => (joined = true))
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning })
  await consumer.run({ autoCommit, eachMessage: async ({ message }) => read.push(String(message.value)) })
  await until(() => joined)
  while (!read.includes('now')) await send('now').then(() => until(() => read.includes('now'), 5))
  read = []
  consumer.seek({ topic, partition: 0, offset })
  await until(() => read.length, 15)
  while (!read.length) await send('last').then(() => until(() => read.length, 5))
  console.log(`${where}, autoCommit ${autoCommit}: reads ${read[0]} first`)
  await consumer.disconnect()
}

async function main() {
  await producer.connect()
  await send('first')
  for (const autoCommit of [true, false]) await seek('end', '-1', true, autoCommit)
  await seek('beginning', '-2', false, true)
  process.exit()
}

main()
