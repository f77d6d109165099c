// A connection is lost once, while a member of a group looks for its coordinator again, as in each rebalance.
const net = require('node:net')
const { Kafka, logLevel } = require('kafkajs')
const FIND_COORDINATOR = 10
let loses = false
function socketFactory({ host, port, onConnect }) {
  const socket = net.connect({ host, port }, onConnect)
  const write = socket.write.bind(socket)
  socket.write = (request, ...rest) => {
    if (!loses || request.readInt16BE(4) !== FIND_COORDINATOR) return write(request, ...rest)
    loses = false
    return socket.destroy(new Error('read ECONNRESET'))
  }
  return socket
}

async function consumer(groupId, settings) {
  const kafka = new Kafka({ brokers: process.env.BOOTSTRAP_SERVERS.split(','), logLevel: logLevel.NOTHING, ...settings })
  const made = kafka.consumer({ groupId, heartbeatInterval: 500 })
  await made.connect()
  await made.subscribe({ topic: 'orders', fromBeginning: true })
  await made.run({ eachMessage: async () => {} })
  return made
}

async function main() {
  const first = await consumer('billing', { socketFactory })
  const crashed = new Promise((done) => first.on(first.events.CRASH, ({ payload }) => done(payload)))
  first.on(first.events.GROUP_JOIN, () => console.log('it has joined again'))
  loses = true
  await consumer('billing', {})
  const { error, restart } = await crashed
  console.log(error.message)
  console.log('will it be restarted?', restart)
  process.exit()
}

main()
