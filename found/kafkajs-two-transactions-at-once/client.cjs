// The first transaction of a producer is begun by two calls at the same time; one of them is refused.

const { Kafka, logLevel } = require('kafkajs')

const settings = { brokers: process.env.BOOTSTRAP_SERVERS.split(','), retry: { retries: 1 } }
const kafka = new Kafka({ ...settings, logLevel: logLevel.NOTHING })

async function write(name, transaction) {
  try {
    await transaction.send({ topic: 'orders', messages: [{ value: name }] })
    await transaction.commit()
    console.log(`${name}: committed`)
  } catch (error) {
    console.log(`${name}: ${error.type ?? error.message}`)
    await transaction.abort().catch(() => {})
  }
}

async function main() {
  const producer = kafka.producer({ transactionalId: 'orders', idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  const begun = await Promise.allSettled([producer.transaction(), producer.transaction()])
  const { value } = begun.find(({ status }) => status === 'fulfilled')
  const { reason } = begun.find(({ status }) => status === 'rejected')
  console.log(`refused: ${reason.message}`)
  await write('the other one', value)
  await write('the next one', await producer.transaction())
  await producer.disconnect()
}

main()
