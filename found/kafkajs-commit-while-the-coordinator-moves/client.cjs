// The coordinator of a transaction moves just after the client has looked it up to commit.

const { execSync } = require('node:child_process')
const { Kafka, logLevel } = require('kafkajs')

const kafka = new Kafka({ brokers: process.env.BOOTSTRAP_SERVERS.split(','), logLevel: logLevel.NOTHING })
const producer = kafka.producer({ transactionalId: 'orders', idempotent: true, maxInFlightRequests: 1 })
let commits = false

producer.on(producer.events.REQUEST, ({ payload }) => {
  if (!commits || payload.apiName !== 'GroupCoordinator') return
  execSync(process.env.MOVE_LEADER)
  commits = false
})

async function attempt(name, call) {
  try {
    await call()
    console.log(`${name}: done`)
  } catch (error) {
    console.log(`${name}: ${error.type ?? error.message}`)
  }
}

async function main() {
  await producer.connect()
  const transaction = await producer.transaction()
  await transaction.send({ topic: 'orders', messages: [{ value: '1' }] })
  commits = true
  await attempt('commit', transaction.commit)
  await attempt('commit again', transaction.commit)
  await attempt('abort', transaction.abort)
  await attempt('begin another one', producer.transaction)
  await producer.disconnect()
}

main()
