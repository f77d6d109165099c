// Each of two members seeks to where the application was, as after a restart. Then one of them ends.
const { Kafka, logLevel } = require('kafkajs')

const topic = 'orders'
const kafka = new Kafka({ brokers: process.env.BOOTSTRAP_SERVERS.split(','), logLevel: logLevel.NOTHING })
const owned = new Map()
let ended = false

async function until(condition, attempts = 100) {
  while (attempts-- && !(await condition())) await new Promise((done) => setTimeout(done, 200))
}

async function start() {
  const consumer = kafka.consumer({ groupId: 'billing', heartbeatInterval: 500 })
  consumer.on('consumer.group_join', ({ payload }) => owned.set(consumer, payload.memberAssignment[topic]?.length))
  await consumer.connect()
  await consumer.subscribe({ topic })
  const eachMessage = async ({ message }) => ended && console.log(`offset ${message.offset} is read again`)
  await consumer.run({ eachMessage })
  return consumer
}

async function main() {
  const [producer, admin, partitions] = [kafka.producer(), kafka.admin(), [0, 1]]
  await producer.connect()
  const written = ['first', 'second'].flatMap((value) => partitions.map((partition) => ({ value, partition })))
  await producer.send({ topic, messages: written })
  const members = [await start(), await start()]
  await until(() => members.every((each) => owned.get(each) === 1))
  for (const each of members) for (const partition of partitions) each.seek({ topic, partition, offset: '0' })
  const stored = async () => (await admin.fetchOffsets({ groupId: 'billing', topics: [topic] }))[0].partitions
  await until(async () => (await stored()).every(({ offset }) => offset === '2'))
  console.log('committed:', (await stored()).map(({ offset }) => offset).join(', '))
  await members[1].disconnect()
  ended = true
  setTimeout(process.exit, 15000)
}

main()
