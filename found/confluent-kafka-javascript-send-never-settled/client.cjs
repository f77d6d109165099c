// A broker is away for longer than a producer waits as it disconnects. What becomes of the promises of `send`?
const { execSync } = require('node:child_process')
const { KafkaJS: { Kafka } } = require('@confluentinc/kafka-javascript')

const silent = { info() {}, warn() {}, error() {}, debug() {}, setLogLevel() {}, namespace: () => silent }
const kafka = new Kafka({ kafkaJS: { brokers: process.env.BOOTSTRAP_SERVERS.split(','), logger: silent } })
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const PARTITIONS = [0, 1, 2, 3, 4, 5]

async function main() {
  const producer = kafka.producer()
  await producer.connect()
  const send = (partition) => producer.send({ topic: 'orders', messages: [{ partition, value: 'an order' }] })
  await Promise.all(PARTITIONS.map(send))
  execSync(process.env.LEAVE)
  const settled = new Set()
  for (const partition of PARTITIONS) send(partition).catch(() => {}).finally(() => settled.add(partition))
  await producer.disconnect()
  console.log('disconnected')
  execSync(process.env.COME_BACK)
  await sleep(15000)
  console.log('every send is settled:', settled.size === PARTITIONS.length)
  process.exit(0)
}
main()
