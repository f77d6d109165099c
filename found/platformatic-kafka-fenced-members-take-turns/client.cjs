// Two consumers have one groupInstanceId, as when a pod is replaced and the one before is still there.

const settings = { clientId: 'orders', bootstrapBrokers: process.env.BOOTSTRAP_SERVERS.split(',') }
const group = { groupId: 'billing', groupInstanceId: 'pod-1', heartbeatInterval: 500 }
const TURNS = 5

async function main() {
  const { Consumer } = await import(require.resolve('@platformatic/kafka'))
  const ends = (line) => {
    console.log(line)
    process.exit()
  }
  const consume = async (name) => {
    const consumer = new Consumer({ ...settings, ...group })
    let joins = 0
    consumer.on('consumer:group:join', () => ++joins === TURNS && ends(`the consumer ${name} has joined ${TURNS} times`))
    const stream = await consumer.consume({ topics: ['orders'] })
    stream.on('error', () => ends(`the consumer ${name} is told of an error`))
    stream.resume()
  }
  await consume('before')
  await consume('after')
}

main()
