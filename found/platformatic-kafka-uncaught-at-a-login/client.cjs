// A connection is reset while it logs in, as by a broker that dies: by a proxy, which passes all that comes later.
const net = require('node:net')

const [host, port] = process.env.BOOTSTRAP_SERVERS.split(',')[0].split(':')
let resets = true
const proxy = net.createServer(client => {
  client.once('data', data => {
    if (resets) return client.resetAndDestroy()
    const broker = net.connect(Number(port), host, () => broker.write(data))
    client.pipe(broker).pipe(client)
  })
})

process.on('uncaughtException', error => {
  console.log(`uncaught, which ends a process: ${error.code}: ${error.cause.message}`)
})

async function send(when) {
  const { Producer } = await import(require.resolve('@platformatic/kafka'))
  const producer = new Producer({
    clientId: 'orders',
    bootstrapBrokers: [`127.0.0.1:${proxy.address().port}`],
    retries: 0,
    sasl: { mechanism: 'PLAIN', username: 'bob', password: 'other' },
  })
  const message = { topic: 'orders', partition: 0, value: Buffer.from('order') }
  const sent = producer.send({ messages: [message] })
  console.log(`${when}: ${await sent.then(() => 'written', error => error.errors[0].code)}`)
  await producer.close()
}

proxy.listen(0, '127.0.0.1', async () => {
  await send('a connection is reset')
  resets = false
  await send('none is reset')
  process.exit()
})
