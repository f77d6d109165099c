// A transactional producer is closed, and another one has its transactional id, as after a restart.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }
const message = (value) => ({ messages: [{ topic: 'orders', partition: 0, value: Buffer.from(value) }] })

function reasons(error) {
  return [error, ...(error.errors ?? []).flatMap(reasons), ...(error.cause ? reasons(error.cause) : [])]
}

async function attempt(name, work) {
  try {
    const result = await work()
    console.log(`${name}: done`)
    return result
  } catch (error) {
    console.log(`${name}: ${reasons(error).map(({ apiId, code }) => apiId ?? code).at(-1)}`)
  }
}

async function main() {
  const { Producer } = await import(require.resolve('@platformatic/kafka'))
  const open = () => new Producer({ ...settings, idempotent: true, transactionalId: 'orders', retries: 0 })
  // Each cluster gives 0 as its first producer id.
  const other = new Producer({ ...settings, idempotent: true })
  await other.send(message('of another producer'))
  await other.close()
  for (const time of ['first', 'second', 'third']) {
    const producer = open()
    const transaction = await attempt(`the ${time} producer begins`, () => producer.beginTransaction())
    if (transaction) await attempt(`the ${time} producer sends`, () => transaction.send(message(time)))
    if (transaction) await attempt(`the ${time} producer commits`, () => transaction.commit())
  }
  process.exit(0)
}

main()
