// An idempotent producer sends five messages without waiting for one before it sends the next.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }
const topic = 'orders'

async function main() {
  const { Consumer, Producer } = await import(require.resolve('@platformatic/kafka'))
  const producer = new Producer({ ...settings, idempotent: true })
  const send = (text) => producer.send({ messages: [{ topic, partition: 0, value: Buffer.from(text) }] })
  await send('0')
  const answers = await Promise.all(['1', '2', '3', '4', '5'].map(send))
  for (const { offsets } of answers) console.log(`acknowledged at offset ${offsets[0].offset}`)
  const other = new Producer(settings)
  await other.send({ messages: [{ topic, partition: 0, value: Buffer.from('the end') }] })

  const consumer = new Consumer({ ...settings, groupId: 'billing' })
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest' })
  for await (const { value } of stream) {
    console.log(`read: ${value}`)
    if (`${value}` === 'the end') process.exit(0)
  }
}

main()
