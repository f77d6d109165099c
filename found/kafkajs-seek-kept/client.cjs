// Each of two members seeks to where the application was, as after a restart. Then one of them ends.

const { Kafka, logLevel } = require('kafkajs')

const topic = 'orders'
const kafka = new Kafka({ brokers: process.env.BOOTSTRAP_SERVERS.split(','), logLevel: logLevel.NOTHING })
const wait = (ms) => new Promise((done) => setTimeout(done, ms))
let ended = false

async function start() {
  const consumer = kafka.consumer({ groupId: 'billing', heartbeatInterval: 500 })
  await consumer.connect()
  await consumer.subscribe({ topic })
  const eachMessage = async ({ message }) => ended && console.log(`offset ${message.offset} is read again`)
  await consumer.run({ eachMessage })
  return consumer
}

async function main() {
  const [producer, admin] = [kafka.producer(), kafka.admin()]
  await producer.connect()
  for (const partition of [0, 1]) {
    await producer.send({ topic, messages: ['first', 'second'].map((value) => ({ value, partition })) })
  }
  const members = [await start(), await start()]
  await wait(5000) // each has one of the two partitions
  for (const each of members) for (const partition of [0, 1]) each.seek({ topic, partition, offset: '0' })
  await wait(5000)
  const [{ partitions }] = await admin.fetchOffsets({ groupId: 'billing', topics: [topic] })
  console.log('committed:', partitions.map(({ offset }) => offset).join(', '))
  await members[1].disconnect()
  ended = true
  await wait(8000)
  process.exit()
}

main()
