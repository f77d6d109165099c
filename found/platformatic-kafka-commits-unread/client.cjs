// A consumer with autocommit reads one record of five, and is closed. Another one goes on for its group.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }
const topic = 'orders'

async function main() {
  const { Consumer, Producer } = await import(require.resolve('@platformatic/kafka'))
  const producer = new Producer(settings)
  const send = (...values) =>
    producer.send({ messages: values.map((value) => ({ topic, partition: 0, value: Buffer.from(value) })) })
  await send('order 1', 'order 2', 'order 3', 'order 4', 'order 5')

  for (const name of ['first', 'second']) {
    const consumer = new Consumer({ ...settings, groupId: 'billing' })
    const options = { topics: [topic], autocommit: true, mode: 'committed', fallbackMode: 'earliest' }
    const stream = await consumer.consume(options)
    for await (const { value } of stream) {
      console.log(`the ${name} consumer reads ${value}`)
      break
    }
    await consumer.close(true)
    await send('order 6')
  }
  process.exit(0)
}

main()
