// The coordinator of a new transactional id is not there yet. The application tries again, three times.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }

function reasons(error) {
  return [error, ...(error.errors ?? []).flatMap(reasons), ...(error.cause ? reasons(error.cause) : [])]
}

async function main() {
  const { Producer } = await import(require.resolve('@platformatic/kafka'))
  const producer = new Producer({ ...settings, idempotent: true, transactionalId: 'orders', retries: 0 })
  for (let attempt = 1; attempt <= 3; attempt++) {
    try {
      await producer.beginTransaction()
      console.log(`attempt ${attempt}: begun`)
      break
    } catch (error) {
      const { apiId, message } = reasons(error).at(-1)
      console.log(`attempt ${attempt}: ${apiId ?? message}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 2000))
  }
  process.exit(0)
}

main()
