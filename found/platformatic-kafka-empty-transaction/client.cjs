// A transaction in which there is nothing is committed, and another one follows.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }

function reasons(error) {
  return [error, ...(error.errors ?? []).flatMap(reasons), ...(error.cause ? reasons(error.cause) : [])]
}

async function attempt(what, call) {
  try {
    const result = await call()
    console.log(`${what}: done`)
    return result
  } catch (error) {
    const { apiId, message } = reasons(error).at(-1)
    console.log(`${what}: ${apiId ?? message}`)
  }
}

async function main() {
  const { Producer } = await import(require.resolve('@platformatic/kafka'))
  const producer = new Producer({ ...settings, idempotent: true, transactionalId: 'orders' })
  const transaction = await producer.beginTransaction()
  await attempt('commit', () => transaction.commit())
  await attempt('abort', () => transaction.abort())
  await attempt('begin another', () => producer.beginTransaction())
  process.exit(0)
}

main()
