// A group has a member. A consumer that is none commits an offset for it, which brokers refuse. What is it told?
const { KafkaJS: { Kafka } } = require('@confluentinc/kafka-javascript')

const silent = { info() {}, warn() {}, error() {}, debug() {}, setLogLevel() {}, namespace: () => silent }
const kafka = new Kafka({ kafkaJS: { brokers: process.env.BOOTSTRAP_SERVERS.split(','), logger: silent } })
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function connected() {
  const consumer = kafka.consumer({ kafkaJS: { groupId: 'billing', autoCommit: false } })
  await consumer.connect()
  return consumer
}

async function main() {
  const [member, other] = [await connected(), await connected()]
  await member.subscribe({ topics: ['orders'] })
  member.run({ eachMessage: async () => {} })
  while (!member.assignment().length) await sleep(100)
  await other.commitOffsets([{ topic: 'orders', partition: 0, offset: '7' }])
    .then(() => console.log('commitOffsets: done'), (error) => console.log('commitOffsets:', error.message))
  await sleep(2000)
  const [committed] = await member.committed([{ topic: 'orders', partition: 0 }], 10000)
  console.log('committed:', committed.offset)
  process.exit(0)
}
main()
