// A user may do everything but what only brokers do, and sends a record in a transaction.

const CLUSTER = 4, LITERAL = 3, CLUSTER_ACTION = 9, DENY = 2

const settings = (username, password) => ({
  clientId: username,
  bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(','),
  sasl: { mechanism: 'PLAIN', username, password },
})

async function main() {
  const { Admin, Producer } = await import(require.resolve('@platformatic/kafka'))
  const denied = { principal: 'User:alice', host: '*', operation: CLUSTER_ACTION, permissionType: DENY }
  const cluster = { resourceType: CLUSTER, resourceName: 'kafka-cluster', resourcePatternType: LITERAL }
  await new Admin(settings('bob', 'other')).createAcls({ creations: [{ ...cluster, ...denied }] })

  const message = { topic: 'orders', partition: 0, value: Buffer.from('order') }
  const producer = new Producer({ ...settings('alice', 'secret'), idempotent: true, transactionalId: 'orders' })
  const transaction = await producer.beginTransaction()
  try {
    await transaction.send({ messages: [message] })
    await transaction.commit()
    console.log('with a transaction: committed')
  } catch (error) {
    console.log(`with a transaction: ${error.errors[0].message}`)
  }
  await new Producer({ ...settings('alice', 'secret'), idempotent: true }).send({ messages: [message] })
  console.log('without one: written')
  process.exit(0)
}

main()
