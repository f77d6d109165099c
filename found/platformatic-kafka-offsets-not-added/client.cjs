// The offsets of two records, of two partitions, are added to a transaction at the same time.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }
const topic = 'orders'

async function main() {
  const { Consumer, Producer } = await import(require.resolve('@platformatic/kafka'))
  const producer = new Producer({ ...settings, idempotent: true, transactionalId: 'orders' })
  for (const partition of [0, 1]) {
    await new Producer(settings).send({ messages: [{ topic, partition, value: Buffer.from('order') }] })
  }
  const consumer = new Consumer({ ...settings, groupId: 'billing' })
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false })
  const read = []
  for await (const message of stream) if (read.push(message) === 2) break

  const transaction = await producer.beginTransaction()
  await transaction.addConsumer(consumer)
  await Promise.all(read.map((message) => transaction.addOffset(message)))
  await transaction.commit()
  let offsets
  do {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const committed = await consumer.listCommittedOffsets({ topics: [{ topic, partitions: [0, 1] }] })
    offsets = committed.get(topic).sort().reverse()
  } while (offsets[0] < 0)
  console.log(`committed, though 1 of each partition was added: ${offsets}`)
  process.exit(0)
}

main()
