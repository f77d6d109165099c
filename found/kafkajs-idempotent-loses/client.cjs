// An idempotent producer sends two messages; the connection breaks before the first is answered.

const { Kafka, logLevel } = require('kafkajs')

const kafka = new Kafka({ brokers: process.env.BOOTSTRAP_SERVERS.split(','), logLevel: logLevel.NOTHING })
const topic = 'orders'

async function main() {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  const send = async (value) => {
    const [{ baseOffset }] = await producer.send({ topic, messages: [{ value }] })
    return `${value}: acknowledged at offset ${baseOffset}`
  }
  const answers = await Promise.all([send('first'), send('second')])
  console.log(answers.join('\n'))
  await send('the end')

  const consumer = kafka.consumer({ groupId: 'billing' })
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
