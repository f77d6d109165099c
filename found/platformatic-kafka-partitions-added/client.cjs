// A topic gets more partitions while a consumer of the new protocol (KIP-848) reads it.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }
const topic = 'orders'

process.on('uncaughtException', (error) => {
  console.log(`the process would end: ${error.message}`)
  process.exit(0)
})

async function main() {
  const { Admin, Consumer } = await import(require.resolve('@platformatic/kafka'))
  const consumer = new Consumer({ ...settings, groupId: 'billing', groupProtocol: 'consumer' })
  const stream = await consumer.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest' })
  stream.on('data', () => {})
  stream.on('error', (error) => console.log(`stream: ${error.message}`))
  const admin = new Admin(settings)
  await admin.createPartitions({ topics: [{ name: topic, count: 3 }] })
  setTimeout(() => {
    console.log('it still consumes')
    process.exit(0)
  }, 30000)
}

main()
