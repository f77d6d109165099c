// A record is too large for its topic. Its transaction is aborted, and others follow.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }
const message = (value) => ({ messages: [{ topic: 'orders', partition: 0, value: Buffer.from(value) }] })

function reasons(error) {
  return [error, ...(error.errors ?? []).flatMap(reasons), ...(error.cause ? reasons(error.cause) : [])]
}

async function main() {
  const { Producer } = await import(require.resolve('@platformatic/kafka'))
  const producer = new Producer({ ...settings, idempotent: true, transactionalId: 'orders' })
  for (const [name, value] of [['small', '1'], ['large', 'x'.repeat(5000)], ['small', '2'], ['small', '3']]) {
    const transaction = await producer.beginTransaction()
    try {
      await transaction.send(message(value))
      await transaction.commit()
      console.log(`a ${name} record: committed`)
    } catch (error) {
      console.log(`a ${name} record: ${reasons(error).map(({ apiId, code }) => apiId ?? code).at(-1)}`)
      await transaction.abort()
    }
  }
  process.exit(0)
}

main()
