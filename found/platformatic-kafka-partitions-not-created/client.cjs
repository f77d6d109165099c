// Partitions are added to two topics at the same time.

const settings = { clientId: 'admin', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }

async function main() {
  const { Admin } = await import(require.resolve('@platformatic/kafka'))
  const admin = new Admin(settings)
  const names = ['orders', 'bills']
  const calls = names.map((name) => admin.createPartitions({ topics: [{ name, count: 2 }] }))
  console.log((await Promise.allSettled(calls)).map(({ status }) => status))
  await new Promise((resolve) => setTimeout(resolve, 2000))
  for (const name of names) {
    const { topics } = await admin.metadata({ topics: [name], forceUpdate: true })
    console.log(`${name} has ${topics.get(name).partitionsCount}`)
  }
  process.exit(0)
}

main()
