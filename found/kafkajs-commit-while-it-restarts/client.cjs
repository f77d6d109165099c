// The second order fails, the consumer restarts, and the offset of the first one is committed meanwhile.

const { Kafka, logLevel } = require('kafkajs')

const kafka = new Kafka({ brokers: process.env.BOOTSTRAP_SERVERS.split(','), logLevel: logLevel.NOTHING })
const producer = kafka.producer()
const consumer = kafka.consumer({ groupId: 'billing', retry: { retries: 0 } })
const admin = kafka.admin()
const once = (event, when) =>
  new Promise(resolve => consumer.on(event, ({ payload }) => when(payload) && resolve()))

async function commit(when) {
  await consumer.commitOffsets([{ topic: 'orders', partition: 0, offset: '1' }])
  const [{ partitions }] = await admin.fetchOffsets({ groupId: 'billing', topics: ['orders'] })
  console.log(`${when}: commitOffsets returns, the group has committed ${partitions[0].offset}`)
}

async function main() {
  await Promise.all([producer.connect(), consumer.connect(), admin.connect()])
  await producer.send({ topic: 'orders', messages: [{ value: '1' }, { value: '2' }] })
  await consumer.subscribe({ topic: 'orders', fromBeginning: true })
  const crash = once(consumer.events.CRASH, payload => payload.restart)
  let fails = true
  const eachMessage = async ({ message }) => {
    if (message.offset === '1' && fails) throw new Error('the database is down')
  }
  await consumer.run({ autoCommit: false, eachMessage })
  await crash
  fails = false
  const joins = once(consumer.events.REQUEST, payload => payload.apiName === 'JoinGroup')
  const joined = once(consumer.events.GROUP_JOIN, () => true)
  await joins
  await commit('it joins again')
  await joined
  await commit('it has joined')
  process.exit()
}

main()
