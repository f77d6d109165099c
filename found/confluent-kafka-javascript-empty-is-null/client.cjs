// A producer writes empty keys and empty values, as texts and as buffers. What do consumers read?
const { KafkaJS: { Kafka } } = require('@confluentinc/kafka-javascript')

const silent = { info() {}, warn() {}, error() {}, debug() {}, setLogLevel() {}, namespace: () => silent }
const kafka = new Kafka({ kafkaJS: { brokers: process.env.BOOTSTRAP_SERVERS.split(','), logger: silent } })
const sent = [
  { key: 'k', value: '' },
  { key: 'k', value: Buffer.alloc(0) },
  { key: '', value: 'v' },
  { key: Buffer.alloc(0), value: 'v' },
]
const told = (bytes) => (bytes === null ? 'null' : `${bytes.length} bytes`)

async function main() {
  const producer = kafka.producer()
  await producer.connect()
  for (const message of sent) await producer.send({ topic: 'orders', messages: [{ ...message }] })
  await producer.disconnect()
  const consumer = kafka.consumer({ kafkaJS: { groupId: 'billing', fromBeginning: true } })
  await consumer.connect()
  await consumer.subscribe({ topic: 'orders' })
  let read = 0
  await consumer.run({
    eachMessage: async ({ message: { key, value } }) => {
      const { key: k, value: v } = sent[read]
      const of = (each) => (typeof each === 'string' ? `'${each}'` : 'an empty buffer')
      console.log(`key ${of(k)}, value ${of(v)}: read as key ${told(key)}, value ${told(value)}`)
      if (++read === sent.length) setTimeout(() => process.exit(0), 100)
    },
  })
}
main()
