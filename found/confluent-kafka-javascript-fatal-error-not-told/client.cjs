// A second consumer has the same group.instance.id, for a while. What does the first one's application learn of it?
const { KafkaJS: { Kafka, logLevel } } = require('@confluentinc/kafka-javascript')

const config = { 'bootstrap.servers': process.env.BOOTSTRAP_SERVERS, log_level: logLevel.NOTHING }
const silent = { info() {}, warn() {}, error() {}, debug() {}, setLogLevel() {}, namespace: () => silent }
const kafka = new Kafka({ kafkaJS: { logger: silent } })
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function member(name) {
  const group = { 'group.id': 'billing', 'group.instance.id': 'one', 'auto.offset.reset': 'earliest' }
  const consumer = kafka.consumer({ ...config, ...group })
  const given = []
  await consumer.connect()
  await consumer.subscribe({ topics: ['orders'] })
  consumer.run({ eachMessage: async ({ message }) => given.push(String(message.value)) })
    .catch((error) => console.log(name, 'fails:', error.message))
  return { consumer, given }
}

async function main() {
  const producer = kafka.producer(config)
  await producer.connect()
  const send = (value) => producer.send({ topic: 'orders', messages: [{ value }] })
  await send('order 1')
  const first = await member('the first')
  while (!first.given.length) await sleep(100)
  const second = await member('the second')
  while (!second.consumer.assignment().length) await sleep(100)
  await sleep(5000)
  await second.consumer.disconnect()
  await send('order 2')
  await sleep(15000)
  console.log('the first is given:', first.given.join(', '), '- and has', first.consumer.assignment().length, 'partitions')
  process.exit(0)
}
main()
