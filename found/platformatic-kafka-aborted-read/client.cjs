// A producer aborts two transactions, one after the other. A consumer reads committed records.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }
const topic = 'orders'

async function main() {
  const { Consumer, Producer } = await import(require.resolve('@platformatic/kafka'))
  const producer = new Producer({ ...settings, idempotent: true, transactionalId: 'first' })
  for (const value of ['aborted, the first', 'aborted, the second']) {
    const transaction = await producer.beginTransaction()
    await transaction.send({ messages: [{ topic, partition: 0, value: Buffer.from(value) }] })
    await transaction.abort()
  }
  await producer.close()
  const other = new Producer(settings)
  await other.send({ messages: [{ topic, partition: 0, value: Buffer.from('the end') }] })

  const consumer = new Consumer({ ...settings, groupId: 'billing', isolationLevel: 1 }) // READ_COMMITTED
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest' })
  for await (const { value } of stream) {
    console.log(`read: ${value}`)
    if (`${value}` === 'the end') process.exit(0)
  }
}

main()
