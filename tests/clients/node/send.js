// Sends records with kafkajs, one after the other. Arguments: bootstrap, topic, how many.

const { Kafka, logLevel } = require('kafkajs')

async function main([bootstrap, topic, count]) {
  const kafka = new Kafka({
    clientId: 'kafkajs',
    brokers: bootstrap.split(','),
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 50 },
  })
  const producer = kafka.producer()
  await producer.connect()
  for (let i = 0; i < Number(count); i++) await producer.send({ topic, messages: [{ value: `order ${i}` }] })
  await producer.disconnect()
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error)
  process.exit(1)
})
