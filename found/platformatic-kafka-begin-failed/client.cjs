// A transaction can't be begun, since its timeout is longer than brokers allow. The application tries again.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }

function reasons(error) {
  return [error, ...(error.errors ?? []).flatMap(reasons), ...(error.cause ? reasons(error.cause) : [])]
}

async function main() {
  const { Producer } = await import(require.resolve('@platformatic/kafka'))
  const id = { idempotent: true, transactionalId: 'orders' }
  const producer = new Producer({ ...settings, ...id, timeout: 3_600_000 })
  for (let attempt = 1; attempt <= 2; attempt++) {
    try {
      await producer.beginTransaction()
      console.log(`attempt ${attempt}: begun`)
      break
    } catch (error) {
      const { apiId, message } = reasons(error).at(-1)
      console.log(`attempt ${attempt}: ${apiId ?? message}`)
    }
  }
  process.exit(0)
}

main()
