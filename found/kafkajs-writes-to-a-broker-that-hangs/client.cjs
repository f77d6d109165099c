// A broker hangs, and another one becomes leader of its partition. Two producers write to that.

const { execSync } = require('node:child_process')
const { Kafka, logLevel } = require('kafkajs')

const brokers = process.env.BOOTSTRAP_SERVERS.split(',')
const given = { brokers, requestTimeout: 2000, retry: { retries: 1 }, logLevel: logLevel.NOTHING }
const [before, after, admin] = [new Kafka(given).producer(), new Kafka(given).producer(), new Kafka(given).admin()]

async function main() {
  await Promise.all([before.connect(), admin.connect()])
  const { topics } = await admin.fetchTopicMetadata({ topics: ['orders'] })
  const partition = topics[0].partitions.find(({ leader }) => leader === 3).partitionId
  await admin.disconnect()
  const send = (producer) => producer.send({ topic: 'orders', messages: [{ partition, value: '1' }] })
  const told = (producer) => send(producer).then(() => 'written', (error) => `${error.originalError ?? error}`)
  console.log('all is well:', await told(before))
  execSync(process.env.LEAVE, { stdio: 'ignore' })
  await after.connect()
  console.log('another producer:', await told(after))
  for (let round = 0; round < 5; round++) console.log('the first one:', await told(before))
  process.exit()
}

main()
