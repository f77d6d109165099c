// Two records are sent in a transaction at the same time, to two partitions.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }

async function main() {
  const { Producer } = await import(require.resolve('@platformatic/kafka'))
  const producer = new Producer({ ...settings, idempotent: true, transactionalId: 'orders' })
  const transaction = await producer.beginTransaction()
  const send = (partition) =>
    transaction.send({ messages: [{ topic: 'orders', partition, value: Buffer.from('order') }] })
  const sent = await Promise.allSettled([send(0), send(1)])
  console.log(sent.map(({ status }) => status).sort())
  process.exit(0)
}

main()
